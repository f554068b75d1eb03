# One node, real data: everything that was stored is there, before and after kill -9; tokens are the published ones; another
# program embeds a node; and what this machine does a second.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/node.sh
. tools/lib/claims.sh

tools/build
bin=$PWD/build/release/bin
scratch=$(mktemp -d)
node=$scratch/n1
trap 'node_end "$node" KILL; rm -rf "$scratch"' EXIT

start_node() {
  node_start "$node" --name n1 --peer 127.0.0.1:0 --client 127.0.0.1:0 --bootstrap --replicas 1
  RINGKV_NODE=$(node_address "$node")
  export RINGKV_NODE
}
kvctl() { "$bin/kvctl" "$@"; }
digest() { kvctl dump 2>/dev/null | sha256sum | cut -d' ' -f1; }
# explained WORD…: "TOKEN PARTITION" of kvctl explain WORD….
explained() {
  kvctl explain --json "$@" | sed -n 's/.*"token":"\([0-9a-f]*\)","partition":\([0-9]*\).*/\1 \2/p'
}
ops_per_s() { sed -n 's/.*"ops_per_s":\([0-9]*\).*/\1/p'; }
all_answered() {
  local report
  for report in "$@"; do
    case $report in *'"errors":0,"unknown":0,"misses":0,'*) ;; *) echo "$report"; return 1 ;; esac
  done
}

start_node
tools/debian-packages >"$scratch/packages.jsonl"
lines=$(wc -l <"$scratch/packages.jsonl")
claim "kvctl load stores $lines packages of this machine's Debian index" kvctl load "$scratch/packages.jsonl"
claim "kvctl scan counts every key" same "$lines" "$(kvctl scan | wc -l)"

before=$(digest)
node_end "$node" KILL
start_node
claim "after kill -9 all keys and values are the same (SHA-256 ${before:0:16}…)" same "$before" "$(digest)"

claim "key 'a' has token 86f7e437faa5a7fc, partition 2159" same "86f7e437faa5a7fc 2159" "$(explained a)"
claim "key 'key:0' has token 2d8a8fda780a1071, partition 728" same "2d8a8fda780a1071 728" "$(explained key:0)"
claim "the key of eight bytes ff has token be673e8a56eaa9d8, partition 3046" \
  same "be673e8a56eaa9d8 3046" "$(explained --key-b64 //////////8=)"

claim "a program outside the tree builds against the installed package, opens a node and a client, puts and gets" \
  tests/embedding/run build/release

bench() { "$bin/kvbench" --connections 8 --depth 16 --value-size 100 --keys 20000 --duration 3 --json "$@"; }
puts=$(bench --workload put)
gets=$(bench --workload get)
claim "this machine does $(ops_per_s <<<"$puts") puts/s and $(ops_per_s <<<"$gets") gets/s on one node, node and benchmark together" \
  all_answered "$puts" "$gets"

claims_end
