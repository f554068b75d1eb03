# Five nodes, three copies in three racks: all data are counted and read while two nodes are down, a key without a quorum says
# so at once, kill -9 of all loses nothing, every node has the same ring, a program opens three nodes in itself, and a network
# that was cut in two grows together.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh

tools/build
bin=$PWD/build/release/bin
scratch=$(mktemp -d)
dir=$scratch/cluster
names=(n1 n2 n3 n4 n5)
keys=100000
trap 'tools/cluster destroy --dir "$dir"; rm -rf "$scratch"' EXIT

cluster() { tools/cluster "$1" --dir "$dir" "${@:2}"; }
kvctl() { "$bin/kvctl" "$@"; }
client_of() { sed -n 's/^ready .*client=\([^ ]*\).*/\1/p' "$dir/$1/out"; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
# A partition without two live replicas ends a dump with an error: then once more, for nodes that are just back.
digest() {
  for _ in $(seq 10); do
    if kvctl dump >"$scratch/dump" 2>"$scratch/said"; then sha256sum <"$scratch/dump" | cut -d' ' -f1; return 0; fi
    sleep 1
  done
  cat "$scratch/said"
}
ring_digest() { kvctl --node "$(client_of "$1")" ring --json | sed -n 's/.*"digest":"\([^"]*\)".*/\1/p'; }
ring_digests() { local name; for name in "${names[@]}"; do ring_digest "$name"; done | sort | uniq -c | sed 's/^ *//'; }
value_of() { printf 'value of %s' "$1"; }

write_lines() {
  perl -MMIME::Base64=encode_base64 -e 'for (0 .. $ARGV[0] - 1) {
    print q({"key_b64":"), encode_base64("key:$_", ""), q(","value_b64":"), encode_base64("value of key:$_", ""), qq("}\n) }' "$keys"
}

# owners_of KEY: names of its replicas, a blank before and after each.
owners_of() { echo " $(kvctl explain --json "$1" | grep -o '"node":"[^"]*"' | cut -d'"' -f4 | xargs) "; }
racks_of() { kvctl explain --json "$1" | grep -o '"rack":"[^"]*"' | sort -u | wc -l; }
# count_in OWNERS NAME…: how many of the owners are among the names.
count_in() {
  local owners=$1 name count=0
  shift
  for name in "$@"; do [[ $owners != *" $name "* ]] || count=$((count + 1)); done
  echo "$count"
}

# until_seen NAME STATE OTHER…: in the eyes of NAME the others are in that state. At most 30 s.
until_seen() {
  local seen other
  for _ in $(seq 300); do
    seen=$(kvctl --node "$(client_of "$1")" status 2>/dev/null) || seen=
    for other in "${@:3}"; do
      awk -v name="$other" -v state="$2" '$1 == name && $2 == state { found = 1 } END { exit !found }' <<<"$seen" ||
        { sleep 0.1; continue 2; }
    done
    return 0
  done
  echo "$1 doesn't see ${*:3} $2:"
  echo "$seen"
  return 1
}
until_all_up() { local name; for name in "${names[@]}"; do until_seen "$name" up "${names[@]}"; done; }

# --- all there

begun=$(now_ms)
cluster up --nodes 5 --racks 3 --base-port "${RINGKV_DEMO_PORT:-27400}"
eval "$(cluster env)"
claim "5 nodes in 3 racks are one cluster after $(($(now_ms) - begun)) ms" until_all_up
write_lines >"$scratch/lines"
claim "kvctl load stores $keys keys" kvctl load "$scratch/lines"
claim "kvctl scan counts every key" same "$keys" "$(kvctl scan | wc -l)"

samples=()
for ((i = 0; i < 200; ++i)); do samples+=("key:$((i * 499))"); done
three_racks() { local key; for key in "${samples[@]:0:40}"; do same 3 "$(racks_of "$key")" || return 1; done; }
claim "the copies of a key are in 3 racks" three_racks
claim "all nodes have the same ring" same "5 $(ring_digest n1)" "$(ring_digests)"

# --- two nodes of different racks die

declare -A owners=()
for key in "${samples[@]}"; do owners[$key]=$(owners_of "$key"); done
cluster kill n1 n2
with=0 without=0 slowest=0
read_samples() {
  local key code begun took answer
  for key in "${samples[@]}"; do
    begun=$(now_ms) code=0
    answer=$(kvctl get "$key" 2>"$scratch/said") || code=$?
    took=$(($(now_ms) - begun))
    if [ "$(count_in "${owners[$key]}" n3 n4 n5)" -ge 2 ]; then
      with=$((with + 1))
      [ "$code $answer" = "0 $(value_of "$key")" ] || { echo "$key: exit $code, '$answer': $(cat "$scratch/said")"; return 1; }
    else
      without=$((without + 1))
      slowest=$((took > slowest ? took : slowest))
      [ "$code" -eq 3 ] || { echo "$key: exit $code: $(cat "$scratch/said")"; return 1; }
      grep -q UNAVAILABLE "$scratch/said" || { echo "$key: $(cat "$scratch/said")"; return 1; }
    fi
  done
}
read_samples >"$scratch/failed" && read=yes || read=
was_read() { cat "$scratch/failed"; [ -n "$read" ]; }
was_both() { was_read && [ "$with" -gt 0 ] && [ "$without" -gt 0 ]; }
claim "with n1 and n2 killed (kill -9), $with sampled keys with a live quorum are read, byte for byte" was_read
claim "$without sampled keys without one are UNAVAILABLE (exit code 3), and nothing else" was_both
claim "each of those answers came within a second (the slowest after $slowest ms)" test "$slowest" -lt 1000

# --- all die

cluster start n1 n2
until_all_up
before=$(digest)
cluster kill "${names[@]}"
cluster start "${names[@]}"
until_all_up
claim "after kill -9 of all five, all keys and values are the same (SHA-256 ${before:0:16}…)" same "$before" "$(digest)"
claim "they still count $keys" same "$keys" "$(kvctl scan | wc -l)"
claim "all nodes still have the same ring" same "5 $(ring_digest n1)" "$(ring_digests)"

# --- a network in two parts

cluster partition n1,n2/n3,n4,n5
until_seen n1 down n3 n4 n5
until_seen n3 down n1 n2
# Each key has its quorum on one side.
side_of() { if [ "$(count_in "${owners[$1]}" n1 n2)" -ge 2 ]; then echo n1; else echo n3; fi; }
write_and_read() {
  local key node
  for key in "${samples[@]:0:60}"; do
    node=$(client_of "$(side_of "$key")")
    same "$(value_of "$key")" "$(kvctl --node "$node" get "$key")" || return 1
    kvctl --node "$node" put "$key" "changed $key" || return 1
    same "changed $key" "$(kvctl --node "$node" get "$key")" || return 1
  done
}
claim "with the network cut in 2 and 3 nodes, the side with a key's quorum reads and writes it" write_and_read
cluster heal
claim "after it has healed all nodes see each other again" until_all_up
agree() {
  local key name
  for name in "${names[@]}"; do
    for key in "${samples[@]:0:60}"; do
      same "changed $key" "$(kvctl --node "$(client_of "$name")" get "$key")" || { echo "$key through $name"; return 1; }
    done
  done
}
claim "every node answers what was written meanwhile" agree
claim "and all nodes have the same ring" same "5 $(ring_digest n1)" "$(ring_digests)"

# --- nodes inside a program

claim "a program opens three nodes in itself; what is put through one is got through the others" \
  tests/embedding/run build/release cluster

claims_end
