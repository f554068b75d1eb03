# The machine that finds what we missed: simulated rings of five nodes, each run from one seed, half of them healed at the end,
# of the other half a core alone; then a copy of the program for each planted fault, of which each must be caught.
# Usage: tools/demo simulator [--seeds N]      Default: 10,000 seeds of two simulated minutes
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh

seeds=10000
minutes=2
case ${1:-} in
  '') ;;
  --seeds) seeds=${2:?--seeds needs a number} ;;
  *) sed -n '3s/^# //p' tools/demos/simulator.sh >&2; exit 2 ;;
esac
if [[ ! $seeds =~ ^[0-9]+$ ]] || [ "$seeds" -lt 2 ]; then echo "tools/demo simulator: --seeds is 2 or more" >&2; exit 2; fi

tools/build kvsim
kvsim=$PWD/build/release/bin/kvsim
scratch=$(mktemp -d)
runner=
trap '[ -z "$runner" ] || kill "$runner" 2>/dev/null || true; rm -rf "$scratch"' EXIT

# progress MODE COUNT: on a terminal one line that changes, else nothing.
progress() {
  [ ! -t 2 ] || printf '\r%s: %s of %s seeds ' "$1" "$(wc -l <"$scratch/$1.out")" "$2" >&2
}

# run_seeds MODE FIRST COUNT: in the background, while progress is shown. Its exit code is kvsim's.
run_seeds() {
  : >"$scratch/$1.out"
  "$kvsim" --mode "$1" --seed "$2" --seeds "$3" --minutes "$minutes" --jobs "$(nproc)" -v \
    >"$scratch/$1.out" 2>"$scratch/$1.err" &
  runner=$!
  while kill -0 "$runner" 2>/dev/null; do
    progress "$1" "$3"
    sleep 1
  done
  [ ! -t 2 ] || printf '\r\033[K' >&2
  local code=0
  wait "$runner" || code=$?
  runner=
  return "$code"
}

# told MODE: what went wrong, if anything did.
told() { grep -v -E '^(seed |  [0-9]+ x |kvsim: [0-9])' "$scratch/$1.err" || true; }

half=$((seeds / 2))
for mode in safety liveness; do
  first=1 what="all is healed and converges"
  [ "$mode" = safety ] || { first=$((half + 1)) what="a core goes on alone"; }
  code=0
  run_seeds "$mode" "$first" "$half" || code=$?
  claim "$half seeds from $first on, $minutes simulated minutes each, then $what: every promise is kept" same 0 "$code"
  told "$mode"
  echo "   broken promises: $(grep -c ' breaks ' "$scratch/$mode.err" || true)"
  sed -n 's/^kvsim: \([0-9]\)/   \1/p' "$scratch/$mode.err"
  echo "   rare events met: $(grep -c -E '^  [1-9][0-9]* x ' "$scratch/$mode.err" || true) kinds of" \
    "$(grep -c -E '^  [0-9]+ x ' "$scratch/$mode.err" || true); the rarest:"
  grep -E '^  [1-9][0-9]* x ' "$scratch/$mode.err" | sort -n | head -n 5 | sed 's/^/   /'
done

claim "each planted fault is caught within 200 seeds" env RINGKV_BIN="$(dirname "$kvsim")" \
  python3 tests/simulation/plants_test.py Plants.test_each_is_found

claims_end
