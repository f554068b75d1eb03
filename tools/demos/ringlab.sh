# The placement laboratory: every published figure to the digit, claims that don't hold beside what is measured, all pictures,
# and all schemes side by side at 100 nodes.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tools/lib/claims.sh

tools/build ringlab
ringlab=$PWD/build/release/bin/ringlab
pictures=build/ringlab
mkdir -p "$pictures"
printed=$(mktemp -d)
trap 'rm -rf "$printed"' EXIT

for experiment in movements remap spread bounded lookup racks; do
  "$ringlab" "$experiment" --plot "$pictures/$experiment.svg" | tr -s ' ' | sed 's/^ //' >"$printed/$experiment"
done
"$ringlab" compare --nodes 100 --plot "$pictures/compare.svg" >"$printed/compare"

# prints EXPERIMENT LINE…: each LINE begins a printed line.
prints() {
  local file=$printed/$1 line
  shift
  for line in "$@"; do
    awk -v line="$line" 'index($0 " ", line " ") == 1 { found = 1 } END { exit !found }' "$file" ||
      { echo "no line '$line'"; return 1; }
  done
}
# Column COLUMN of the first line that begins with WORD: column EXPERIMENT WORD COLUMN.
column() { awk -v word="$2" -v column="$3" '$1 == word { print $column; exit }' "$printed/$1"; }
at_most() { awk -v value="$1" -v limit="$2" 'BEGIN { exit !(value <= limit) }' || { echo "$1 is above $2"; return 1; }; }
drawn() { local svg; for svg in "$@"; do grep -q '</svg>' "$pictures/$svg.svg" || { echo "no $svg.svg"; return 1; }; done; }
none_needless() {
  awk '/^(ring|table-hashed|table-balanced|rendezvous|weighted-rendezvous|jump|ketama) / && NF == 12 {
         seen++; if ($6 != 0 || ($9 != 0 && $9 != "refused")) { print; wrong = 1 } }
       END { exit wrong || seen != 14 }' "$printed/compare"
}

claim "movements: hash mod 8 gives 12498 12501 12500 12498 12501 12500 12501 12501" \
  prints movements "1.000 12498 12501 12500 12498 12501 12500 12501 12501"
claim "movements: a hot key makes the ratio 6.392, split into 16 it is 1.510" prints movements \
  "whole 1 6.392 15151 14964 95009 14926 15066 14863 15086 14935" "split 16 1.510 20151 29964 25009 19926 25066 24863 30086 24935"
claim "movements: a ninth shard moves 88864 keys by modulo, 8584 on the ring" prints movements "modulo 88864 88.9 11.1" "ring 8584 8.6 11.1 0"
claim "movements: losing shard-0 moves 13403 keys, none is unroutable" \
  prints movements "13403 13.4 12.5 0 0 11983 13734 15028 11857 15696 15500 16202"
claim "remap: 2->3 to 16->17 nodes move 66.81 74.89 79.97 88.74 94.03 % by modulo, 37.19 29.46 18.78 12.76 5.74 % on the ring" \
  prints remap "2 3 66.81 66.67 37.19" "3 4 74.89 75.00 29.46" "4 5 79.97 80.00 18.78" "8 9 88.74 88.89 12.76" "16 17 94.03 94.12 5.74"
claim "spread: V = 1, 2, 10, 150, 500 give 66-25465, 1002-28766, 8428-20368, 11514-14688 (25.4 %), 10887-13483 (20.8 %)" \
  prints spread "1 66 25465" "2 1002 28766" "10 8428 20368" "150 11514 14688 25.4" "500 10887 13483 20.8"
claim "bounded: with c = 1.1 no node has more than 1.1 times the average" same 1.100 "$(column bounded 1.1 4)"
claim "racks: $(grep -o '^[0-9]* lists, [0-9]* wrong' "$printed/racks")" grep -q ' 0 wrong:' "$printed/racks"
claim "lookup: a client's copy of 15000 points is 180000 bytes" same 180000 "$(column lookup ring-search 5)"
claim "lookup: the partition table takes $(column lookup partition-table 2) ns after the hash (at most 10)" \
  at_most "$(column lookup partition-table 2)" 10
echo "   lookup: search among 15000 points $(column lookup ring-search 2) ns (target 100), SHA-1 of 16 bytes $(column lookup sha1-of-16-bytes 2) ns (target 150)"
claim "compare: sound schemes move nothing needlessly, with weights and without; jump refuses an arbitrary removal" none_needless
claim "all pictures are in $pictures" drawn movements remap spread compare lookup bounded racks
cat "$printed/compare"

claims_end
