# How fast: the table of `kvbench --compare`, then each target as a ratio to what was measured beside it, three rounds, their
# median. Targets that aren't met are FAILED. Takes about ten minutes; of a machine that does other work at the same time the
# ratios are rougher, never the figures of another one.
#
# What it doesn't measure: gets inside a process, other numbers of nodes, connections and keys.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh
. tools/lib/node.sh

tools/build kvnode kvctl kvbench bare_limit
bin=$PWD/build/release/bin
scratch=$(mktemp -d)
base_port=${RINGKV_DEMO_PORT:-28400}
seconds=${RINGKV_DEMO_SECONDS:-3} rounds=3
redis_pid=
trap 'tools/cluster destroy --dir "$scratch/three"; tools/cluster destroy --dir "$scratch/five"
      [ -z "$redis_pid" ] || kill "$redis_pid" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# --- measuring

# figure NAME: of the line of JSON on standard input.
figure() { grep -o "\"$1\":[0-9.]*" | head -1 | cut -d: -f2; }
quotient() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.3f\n", (b > 0) ? a / b : 0 }'; }
median() { sort -g | awk '{ value[NR] = $1 } END { print value[int((NR + 1) / 2)] }'; }

# note MEASURE NUMBER: one round's.
note() { echo "$2" >>"$scratch/$1"; }

# bare WORKLOAD DEPTH SIZE, ours WORKLOAD DEPTH SIZE FLAG…: a line of JSON. The bare limit is the buffered one throughout.
# `lasting` says how many seconds, where it matters.
bare() {
  "$bin/bare_limit" run --json --workload "$1" --connections 48 --depth "$2" --value-size "$3" --keys 100000 --duration "${seconds}s"
}
ours() {
  "$bin/kvbench" --json --workload "$1" --connections 48 --depth "$2" --value-size "$3" --keys 100000 \
    --duration "${lasting:-$seconds}" "${@:4}" 2>>"$scratch/said" || { tail -n 3 "$scratch/said" >&2; return 1; }
}

# pair NAME WORKLOAD DEPTH SIZE DURABILITY…: one after the other; each further durability against the same bare limit.
pair() {
  local name=$1 workload=$2 depth=$3 size=$4 limit line durability
  limit=$(bare "$workload" "$depth" "$size")
  note "$name-bare-p99" "$(figure p99_us <<<"$limit")"
  for durability in "${@:5}"; do
    line=$(ours "$workload" "$depth" "$size" --durability "$durability")
    note "$name-$durability-ops" "$(figure ops_per_s <<<"$line")"
    note "$name-$durability-p99" "$(figure p99_us <<<"$line")"
    note "$name-$durability" "$(quotient "$(figure ops_per_s <<<"$line")" "$(figure ops_per_s <<<"$limit")")"
    note "$name-$durability-tail" "$(quotient "$(figure p99_us <<<"$line")" "$(figure p99_us <<<"$limit")")"
  done
}
last() { tail -n 1 "$scratch/$1"; }

# At half of what was just reached, from the intended start, with values that fill memtables.
half_rate() {
  local rate
  rate=$(awk -v ops="$(last put1k-buffered-ops)" 'BEGIN { printf "%d", ops / 2 }')
  note half-p999 "$(lasting=10 ours put 16 1024 --durability buffered --rate "$rate" | figure p999_us)"
}

redis_get() {
  local ops
  "$redis" --port $((base_port + 90)) --bind 127.0.0.1 --save '' --appendonly no --dir "$scratch" >"$scratch/redis" 2>&1 &
  redis_pid=$!
  for _ in $(seq 100); do grep -q 'Ready to accept' "$scratch/redis" && break; sleep 0.05; done
  ops=$(redis-benchmark -p $((base_port + 90)) -c 50 -d 100 -n 200000 -t get --csv | tail -n 1 | cut -d, -f2 | tr -d '"')
  kill "$redis_pid"
  wait "$redis_pid" || true
  redis_pid=
  note put-to-redis "$(quotient "$(last put-d1-buffered-ops)" "$ops")"
  note get-to-redis "$(quotient "$(last get-d1-buffered-ops)" "$ops")"
}

# Of each of the three, ten seconds after the start: nobody asks anything.
idle() {
  local name pid before
  declare -A before=()
  sleep 10
  for name in n1 n2 n3; do
    pid=$(node_pid "$scratch/three/$name")
    note idle-megabytes "$(awk '/^VmRSS/ { printf "%.1f", $2 * 1.024 / 1000 }' "/proc/$pid/status")"
    before[$name]=$(ticks "$pid")
  done
  sleep 10
  for name in n1 n2 n3; do
    pid=$(node_pid "$scratch/three/$name")
    note idle-percent "$(awk -v ticks=$(($(ticks "$pid") - before[$name])) -v hz="$(getconf CLK_TCK)" \
      'BEGIN { printf "%.2f", ticks * 100 / hz / 10 }')"
  done
}
ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }

# slow WORKLOAD: p99 with one node in five frozen for 200 ms of every second, and without.
slow() {
  local base line pid freezer
  base=$(lasting=5 ours "$1" 1 100 --rate 1000 | figure p99_us)
  pid=$(node_pid "$scratch/five/n5")
  (while kill -STOP "$pid"; do sleep 0.2; kill -CONT "$pid"; sleep 0.8; done) 2>/dev/null &
  freezer=$!
  line=$(lasting=5 ours "$1" 1 100 --rate 1000)
  kill "$freezer"
  wait "$freezer" 2>/dev/null || true
  kill -CONT "$pid"
  note "slow-$1" "$(quotient "$(figure p99_us <<<"$line")" "$base")"
}

# --- judging

# target TEXT MEASURE at-least|at-most WANTED: one line of the table, from all rounds.
target() {
  local measured met=ok
  if [ ! -s "$scratch/$2" ]; then
    measured=- met=FAILED
  else
    measured=$(median <"$scratch/$2")
    awk -v is="$measured" -v wanted="$4" -v rule="$3" 'BEGIN { exit !(rule == "at-least" ? is >= wanted : is <= wanted) }' ||
      met=FAILED
  fi
  [ $met = ok ] || claims_failed=1
  echo "| $met | $1 | ${3/-/ } $4 | $measured | $(xargs <"$scratch/$2" 2>/dev/null) |"
}

tools/cluster up --dir "$scratch/three" --nodes 3 --base-port "$base_port"
eval "$(tools/cluster env --dir "$scratch/three")"
idle
"$bin/kvbench" --compare --connections 48 --depth 1 --value-size 100 --keys 100000 --duration "$seconds"
echo

redis=$(command -v redis-server || true)
[ -n "$redis" ] || echo "redis isn't installed, its targets aren't measured: apt-get install redis-server"
for ((round = 1; round <= rounds; ++round)); do
  echo "round $round of $rounds" >&2
  pair put-d1 put 1 100 buffered synced
  pair get-d1 get 1 100 buffered
  [ -z "$redis" ] || redis_get
  pair put-d16 put 16 100 buffered synced
  pair get-d16 get 16 100 buffered
  pair put1k put 1 1024 buffered
  pair get1k get 1 1024 buffered
  half_rate
  note synced-tail "$(quotient "$(last put-d1-synced-p99)" "$(last put-d1-buffered-p99)")"
done
differences=$("$bin/kvctl" --json repair | figure differences)
tools/cluster destroy --dir "$scratch/three"

tools/cluster up --dir "$scratch/five" --nodes 5 --base-port $((base_port + 100))
eval "$(tools/cluster env --dir "$scratch/five")"
for ((round = 1; round <= rounds; ++round)); do slow get; slow put; done

echo "| | target | wanted | median | all rounds |"
echo "|---|---|---|---|---|"
target 'put, buffered, to the bare limit, 1 under way' put-d1-buffered at-least 0.75
target 'put, buffered, 16 under way' put-d16-buffered at-least 0.7
target 'put, synced, to the same limit, 1 under way' put-d1-synced at-least 0.5
target 'put, synced, 16 under way' put-d16-synced at-least 0.65
target 'get, 1 under way' get-d1-buffered at-least 0.9
target 'get, 16 under way' get-d16-buffered at-least 1.0
target 'put, buffered, 1 KiB, 1 under way' put1k-buffered at-least 0.7
target 'get, 1 KiB, 1 under way' get1k-buffered at-least 1.2
target 'p99 of puts, to that of the bare limit, 1 under way' put-d1-buffered-tail at-most 1.3
target 'p99 of gets, to that of the bare limit, 1 under way' get-d1-buffered-tail at-most 1.3
target 'p99 of synced puts, to that of buffered ones' synced-tail at-most 2
target 'p99.9 of puts of 1 KiB in µs, at half the rate' half-p999 at-most 10000
target 'put, to the GET of redis-benchmark -c 50 -d 100' put-to-redis at-least 0.40
target 'get, to the GET of redis-benchmark -c 50 -d 100' get-to-redis at-least 0.50
target 'MB resident of an idle node' idle-megabytes at-most 60
target 'per cent of a core of an idle node' idle-percent at-most 1
target 'p99 of gets, one node in five frozen 200 ms a second, to that without' slow-get at-most 2
target 'p99 of puts, one node in five frozen 200 ms a second, to that without' slow-put at-most 2
echo
claim "all copies are equal after it: kvctl repair finds $differences differences" same 0 "$differences"

claims_end
