# On three nodes and on five: 100,000 keys, one node killed for 60 s under full load, and back. Nobody reads, nobody repairs;
# within 30 s of its return all replicas hold the same, and the node that was away has everything that it owns.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh

tools/build
bin=$PWD/build/release/bin
scratch=$(mktemp -d)
keys=100000
away_s=${RINGKV_DEMO_AWAY_S:-60}
victim=n3
dir=
trap '[ -z "$dir" ] || tools/cluster destroy --dir "$dir"; rm -rf "$scratch"' EXIT

cluster() { tools/cluster "$1" --dir "$dir" "${@:2}"; }
kvctl() { "$bin/kvctl" "$@"; }
client_of() { sed -n 's/^ready .*client=\([^ ]*\).*/\1/p' "$dir/$1/out"; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
bench() { "$bin/kvbench" --workload put --keys "$keys" --connections 16 --depth 4 --value-size 100 --json "$@"; }
number() { sed -n "s/.*\"$1\": *\([0-9.]*\).*/\1/p" | head -n 1 | cut -d. -f1; }
hints() { kvctl hints --json | number hints; }

# holds_all NAME: the node, asked alone, has a live value of every key that it owns, and how many those are.
holds_all() {
  perl - "$bin/kvctl" "$(client_of "$1")" "$1" "$keys" <<'PERL'
my ($kvctl, $node, $name, $keys) = @ARGV;
my $owned = $ENV{OWNED};
my $found = 0;
my @missing;
for my $key (split / /, $owned) {
  my $answer = `$kvctl --node $node local-get --json $name $key`;
  if ($answer =~ /"found": *true/) { ++$found } else { push @missing, $key }
}
print "$found found, ", scalar(@missing), " missing: @missing[0 .. ($#missing < 4 ? $#missing : 4)]\n";
exit(@missing ? 1 : 0);
PERL
}

# versions NAME KEY: dots of its live versions on that replica.
versions() { kvctl local-get --json "$1" "$2" | grep -o '"dot": *"[^"]*"' | sort | xargs; }
owners_of() { kvctl explain --json "$1" | grep -o '"node": *"[^"]*"' | cut -d'"' -f4; }

same_on_all_owners() {
  local key owner first
  for key in "${samples[@]}"; do
    first=
    for owner in $(owners_of "$key"); do
      local held
      held=$(versions "$owner" "$key")
      [ -n "$held" ] || { echo "$key: $owner holds nothing"; return 1; }
      : "${first:=$held}"
      same "$first" "$held" || { echo "$key on $owner"; return 1; }
    done
  done
}

for count in 3 5; do
  dir=$scratch/cluster$count
  names=()
  for ((i = 1; i <= count; ++i)); do names+=("n$i"); done
  cluster up --nodes "$count" --racks 3 --base-port $((${RINGKV_DEMO_PORT:-28400} + 100 * count))
  eval "$(cluster env)"
  bench --duration 1 >"$scratch/load.json"  # stores nothing but what it puts
  "$bin/kvbench" --workload get --keys "$keys" --connections 8 --duration 1 --json >/dev/null  # stores each key once
  claim "$count nodes hold $keys keys, all replicas the same" kvctl wait converged --timeout 120s

  cluster kill "$victim"
  bench --no-load --duration "$away_s" >"$scratch/missed.json"
  puts=$(($(number ops_per_s <"$scratch/missed.json") * away_s))
  claim "$count nodes: $victim is killed for $away_s s; meanwhile $puts puts are acknowledged, none fails" \
    same 0 "$(number errors <"$scratch/missed.json")"
  claim "hints are kept for it: $(hints)" test "$(hints)" -gt 0

  cluster start "$victim"
  begun=$(now_ms)
  converged=yes
  kvctl wait converged --timeout 30s >&2 || converged=
  claim "$count nodes: with no client reading, 'wait converged' ends $(($(now_ms) - begun)) ms after its return (30 s allowed)" test -n "$converged"
  claim "no hint is left" same 0 "$(hints)"
  repaired=$(kvctl repair --json)
  claim "the next repair finds 0 differences and sends 0 bytes" \
    same "0 0" "$(number differences <<<"$repaired") $(number bytes_sent <<<"$repaired")"

  samples=()
  for ((i = 0; i < 100; ++i)); do samples+=("bench:$((i * (keys / 100) + 7))"); done
  claim "the owners of 100 sampled keys hold the same versions" same_on_all_owners

  held=0
  for name in "${names[@]}"; do held=$((held + $(kvctl stats "$name" --json | number store.keys))); done
  claim "all nodes together hold three copies of each of $keys keys" same $((3 * keys)) "$held"

  OWNED=
  for ((i = 0; i < 1000; ++i)); do
    key=bench:$((i * (keys / 1000) + 3))
    [ "$count" -eq 3 ] || owners_of "$key" | grep -qx "$victim" || continue
    OWNED+="${OWNED:+ }$key"
  done
  export OWNED
  for name in "${names[@]}"; do [ "$name" = "$victim" ] || cluster stop "$name"; done
  claim "$count nodes: $victim alone, all others stopped, has 100 % of $(wc -w <<<"$OWNED") sampled keys that it owns" holds_all "$victim"
  cluster destroy
  dir=
done

claims_end
