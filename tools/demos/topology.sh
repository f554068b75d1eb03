# Five nodes with 200,000 keys under load: two nodes join, one leaves, a killed one is replaced. Nothing is lost, no
# request fails for it, what moves is what the plan forecast, and old owners give their disk back.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh

tools/build
bin=$PWD/build/release/bin
scratch=$(mktemp -d)
dir=$scratch/cluster
keys=200000
connections=8
load_s=${RINGKV_DEMO_LOAD_S:-60}
load_pid=
trap '[ -z "$load_pid" ] || kill "$load_pid" 2>/dev/null || true; tools/cluster destroy --dir "$dir"; rm -rf "$scratch"' EXIT

cluster() { tools/cluster "$1" --dir "$dir" "${@:2}"; }
kvctl() { "$bin/kvctl" "$@"; }
now_ms() { echo $((${EPOCHREALTIME/[.,]/} / 1000)); }
get() { F=$1 perl -MJSON::PP -0777 -ne 'print decode_json($_)->{$ENV{F}} // ""'; }

# begin_load: mixed gets and puts of the same keys; end_load waits for its end.
begin_load() {
  "$bin/kvbench" --workload mixed --keys "$keys" --no-load --connections "$connections" --depth 1 --value-size 1000 \
    --duration "$load_s" --json >"$scratch/load.json" 2>"$scratch/load.err" &
  load_pid=$!
}
end_load() {
  wait "$load_pid" || { cat "$scratch/load.err" >&2; }
  load_pid=
}

stat_of() { kvctl stats "$1" --json | perl -MJSON::PP -0777 -ne 'print decode_json($_)->{$ENV{S}} // 0'; }
members() { kvctl ring --json | perl -MJSON::PP -0777 -ne 'print join " ", map { $_->{name} } @{decode_json($_)->{members}}'; }

# forecast: keys by "to" of what is planned or under way.
forecast_keys() { kvctl plan show --json | perl -MJSON::PP -0777 -ne 'my $k = 0; $k += $_->{keys} for @{decode_json($_)->{moves}}; print $k'; }
within_5_percent() { perl -e 'my ($f, $m) = @ARGV; my $d = $f ? abs($m - $f) / $f : 1; printf "forecast %d, moved %d keys\n", $f, $m; exit($d <= 0.05 ? 0 : 1)' "$1" "$2"; }
received() { local sum=0 name; for name in $(members); do sum=$((sum + $(S=rounds.keys_received stat_of "$name" | cut -d. -f1))); done; echo "$sum"; }

# every partition on N nodes and min(N, racks) racks, by what the ring says and by the preference lists of sampled keys.
on_n_nodes_and_racks() {
  local key
  for key in $(seq 1 "$((keys / 200))" "$keys"); do
    kvctl explain --json "bench:$((key - 1))" || return 1
  done | RING=$(kvctl ring --json) perl -MJSON::PP -0777 -e '
    my %rack = map { $_->{name} => $_->{rack} } @{decode_json($ENV{RING})->{members}};
    my %racks = map { $_ => 1 } values %rack;
    my $want = keys %racks < 3 ? keys %racks : 3;
    my $bad = 0; my $n = 0;
    my $json = JSON::PP->new; $json->incr_parse(do { local $/; <STDIN> });
    while (my $doc = $json->incr_parse) {
      my @live = grep { $_->{alive} && @{$_->{versions}} } @{$doc->{replicas}};
      my %nodes = map { $_->{node} => 1 } @live;
      my %in = map { $rack{$_->{node}} => 1 } @live;
      ++$n; ++$bad if keys %nodes != 3 || keys %in != $want;
    }
    print STDERR "$n keys looked at, $bad not on 3 nodes in $want racks\n"; exit($n && !$bad ? 0 : 1)'
}

all_keys_there() {
  local seen
  seen=$(kvctl scan --timeout 60s | sort -u | wc -l)
  same "$keys" "$seen"
}

# change WHAT COMMAND…: the command begins it; waits for its end.
change() {
  local what=$1 begun
  shift
  begun=$(now_ms)
  "$@" >&2
  claim "$what: it ends" kvctl wait joined --timeout 180s
  echo "# $what took $(($(now_ms) - begun)) ms" >&2
}

# Compared while nobody writes: what clients write meanwhile goes to new owners too.
change_as_forecast() {
  local what=$1 before forecast
  before=$(received)
  shift
  "$@" >&2
  forecast=$(forecast_keys)
  claim "$what: it ends" kvctl wait joined --timeout 180s
  claim "$what: what moved is within 5 % of the forecast ($forecast keys)" \
    within_5_percent "$forecast" $(($(received) - before))
}

cluster up --nodes 5 --racks 3 --base-port "${RINGKV_DEMO_PORT:-29400}" -- --drop-grace 0s
eval "$(cluster env)"
"$bin/kvbench" --workload get --keys "$keys" --connections 16 --depth 4 --value-size 1000 --duration 1 --json >/dev/null
claim "5 nodes in 3 racks hold $keys keys of 1 KB" kvctl wait converged --timeout 120s
claim "all of them are found" all_keys_there

change_as_forecast "add n6" cluster add
claim "add n6: no key is missing" all_keys_there

begin_load
sleep 3
change "add n7 under load" cluster add
change "remove n2 under load" cluster remove n2
cluster kill n3
change "replace the killed n3 under load" cluster replace n3
claim "the load ran all the time" kill -0 "$load_pid"
end_load
claim "under load: no request failed ($(get ops_per_s <"$scratch/load.json" | cut -d. -f1) a second)" \
  same 0 "$(get errors <"$scratch/load.json")"
unknown=$(get unknown <"$scratch/load.json")
claim "under load: $unknown outcomes are unknown, of those that n3 had under way when it was killed" test "$unknown" -le "$connections"
claim "under load: p99 $(get p99_us <"$scratch/load.json" | cut -d. -f1) us, p99.9 $(get p999_us <"$scratch/load.json" | cut -d. -f1) us" true

gone() { [[ " $(members) " != *" $1 "* ]]; }
claim "n2 is no member any more" gone n2
claim "n3 neither; the members are $(members)" gone n3
ended() { for _ in $(seq 100); do [ -e "$dir/$1/pid" ] && kill -0 "$(cat "$dir/$1/pid")" 2>/dev/null || return 0; sleep 0.1; done; return 1; }
claim "n2 has ended by itself" ended n2
claim "all replicas are equal" kvctl wait converged --timeout 120s
claim "no key is missing" all_keys_there
claim "keys are on 3 nodes in 3 racks" on_n_nodes_and_racks
nothing_former() { local name; for _ in $(seq 60); do local sum=0; for name in $(members); do sum=$((sum + $(S=former.partitions stat_of "$name" | cut -d. -f1))); done; [ "$sum" = 0 ] && return 0; sleep 1; done; echo "$sum partitions still lie at former owners"; return 1; }
claim "nothing is left at former owners" nothing_former
held() { local sum=0 name; for name in $(members); do sum=$((sum + $(S=store.keys stat_of "$name" | cut -d. -f1))); done; same $((3 * keys)) "$sum"; }
claim "all nodes together hold three copies of each of $keys keys" held
disk_given_back() {
  local name bytes disk bad=0
  for _ in $(seq 60); do
    bad=0
    for name in $(members); do
      bytes=$(S=store.bytes stat_of "$name" | cut -d. -f1)
      disk=$(du -sb "$dir/$name/data/db" | cut -f1)
      [ "$disk" -lt $((bytes * 3 / 2 + (64 << 20))) ] || bad=1
    done
    [ "$bad" = 0 ] && return 0
    sleep 1
  done
  for name in $(members); do echo "$name: $(S=store.bytes stat_of "$name") bytes of records, $(du -sb "$dir/$name/data/db" | cut -f1) on disk"; done
  return 1
}
claim "their disks hold no more than that needs" disk_given_back

claims_end
