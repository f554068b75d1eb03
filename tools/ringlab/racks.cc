// Whether every list of replicas has min(N, nodes) distinct nodes on min(N, racks) racks: each partition of
// the tables that both placers make, and lists that keys find on the continuous ring. Lists that wrap past
// the end are counted, for that is where such code goes wrong.
#include <algorithm>
#include <set>

#include "base/text.h"
#include "replication/placer.h"
#include "replication/preference_list.h"
#include "replication/rack_rounds.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/keys.h"
#include "tools/ringlab/schemes/hashed_ring.h"

namespace ringkv::ringlab {
namespace {

constexpr uint32_t kNodesLeast = 3;
constexpr uint32_t kNodesMost = 13;
constexpr uint32_t kRacksMost = 5;
constexpr uint32_t kCopiesMost = 5;
constexpr uint32_t kPartitions = 1024;

struct Cluster {
  uint32_t nodes = 0;
  uint32_t racks = 0;
  uint32_t copies = 0;

  uint32_t racks_in_use() const { return std::min(racks, nodes); }
  uint32_t list_size() const { return std::min(copies, nodes); }
  uint32_t racks_in_list() const { return std::min(copies, racks_in_use()); }
  // Nodes take racks by turns.
  uint32_t rack_of(uint32_t node) const { return node % racks; }
};

struct Tally {
  uint64_t clusters = 0;
  uint64_t lists = 0;
  uint64_t wrapping = 0;
  uint64_t wrong_nodes = 0;
  uint64_t wrong_racks = 0;
  uint64_t racks_met = 0;

  void add(const Tally& other) {
    clusters += other.clusters;
    lists += other.lists;
    wrapping += other.wrapping;
    wrong_nodes += other.wrong_nodes;
    wrong_racks += other.wrong_racks;
    racks_met += other.racks_met;
  }
};

// Counts by itself, from the list alone.
void check_list(Tally& tally, const Cluster& cluster, const std::vector<uint32_t>& list) {
  std::set<uint32_t> nodes(list.begin(), list.end());
  std::set<uint32_t> racks;
  for (const uint32_t node : list) racks.insert(cluster.rack_of(node));
  ++tally.lists;
  tally.racks_met += racks.size();
  tally.wrong_nodes += nodes.size() == cluster.list_size() && list.size() == nodes.size() ? 0 : 1;
  tally.wrong_racks += racks.size() == cluster.racks_in_list() ? 0 : 1;
}

RackRounds rounds_of(const Cluster& cluster, const std::vector<bool>& on_ring) {
  RackRounds::Nodes nodes{.rack_of = {}, .on_ring = on_ring};
  for (uint32_t i = 0; i < cluster.nodes; ++i) nodes.rack_of.push_back(cluster.rack_of(i));
  return {nodes, cluster.copies};
}

// A node with few virtual nodes may own no partition of the hashed table; then no list has it.
std::vector<bool> owning(const OwnerTable& owners, uint32_t nodes) {
  std::vector<bool> owning(nodes, false);
  for (const uint16_t owner : owners) owning[owner] = true;
  return owning;
}

// Two digits at least, so that order of name is order of number.
std::string node_name(uint32_t number) { return "n" + std::to_string(1001 + number); }

Tally check_table(const Cluster& cluster, PlacerKind placer, uint32_t virtual_nodes) {
  std::vector<Member> members;
  for (uint32_t i = 0; i < cluster.nodes; ++i)
    members.push_back(
        {.node = {i + 1}, .disk = {}, .name = node_name(i), .rack = cat("r", cluster.rack_of(i))});
  const OwnerTable owners = placer == PlacerKind::kHashed
                                ? place_hashed(members, kPartitions, virtual_nodes)
                                : place_balanced({}, {}, members, kPartitions, cluster.copies);
  const std::vector<uint16_t> lists = preference_lists(owners, members, cluster.copies);
  const size_t size = lists.size() / kPartitions;
  Tally tally{.clusters = 1};
  RackRounds rounds = rounds_of(cluster, owning(owners, cluster.nodes));
  for (Partition partition = 0; partition < kPartitions; ++partition) {
    const auto begin = lists.begin() + static_cast<std::ptrdiff_t>(partition * size);
    check_list(tally, cluster, {begin, begin + static_cast<std::ptrdiff_t>(size)});
    const size_t steps = rounds.walk(partition, kPartitions, [&](size_t place) { return owners[place]; });
    tally.wrapping += partition + steps > kPartitions ? 1 : 0;
  }
  return tally;
}

Tally check_ring(const Cluster& cluster, uint32_t virtual_nodes, const KeySet& keys) {
  std::vector<LabNode> nodes;
  for (uint32_t i = 0; i < cluster.nodes; ++i) nodes.push_back({.number = i, .name = node_name(i)});
  const VirtualNodeRing ring = ring_of(nodes, virtual_nodes, keys.hash);
  Tally tally{.clusters = 1};
  RackRounds rounds = rounds_of(cluster, std::vector<bool>(cluster.nodes, true));
  const auto check = [&](uint64_t hash) {
    const size_t start = ring.first_at_or_after(hash);
    const size_t steps = rounds.walk(start, ring.size(), [&](size_t place) { return ring.node_at(place); });
    const bool past_the_last_point = hash > ring.token_at(ring.size() - 1);
    tally.wrapping += past_the_last_point || start + steps > ring.size() ? 1 : 0;
    check_list(tally, cluster, {rounds.list().begin(), rounds.list().end()});
  };
  for (const uint64_t hash : keys.hashes) check(hash);
  check(~uint64_t{0} >> (64 - keys.hash.bits));  // the circle's end, so that some list wraps for sure
  return tally;
}

struct Row {
  std::string ring;
  uint32_t racks = 0;
  uint32_t copies = 0;
  Tally tally;
};

using Check = std::function<Tally(const Cluster&)>;

std::vector<Row> check_all(const std::string& ring, const Settings& settings, const Check& check) {
  std::vector<Row> rows;
  for (uint32_t racks = 1; racks <= kRacksMost; ++racks) {
    for (uint32_t copies = 1; copies <= kCopiesMost; ++copies) {
      Row row{.ring = ring, .racks = racks, .copies = copies};
      for (uint32_t nodes = settings.nodes.value_or(kNodesLeast);
           nodes <= settings.nodes.value_or(kNodesMost); ++nodes)
        row.tally.add(check({.nodes = nodes, .racks = racks, .copies = copies}));
      rows.push_back(row);
    }
  }
  return rows;
}

Table table_of(const std::string& title, const std::vector<Row>& rows) {
  Table table{
      .name = "racks",
      .title = title,
      .columns = {"ring", "racks", "copies", "clusters", "lists", "wrapping", "wrong_nodes", "wrong_racks"},
      .rows = {},
      .notes = {}};
  uint64_t lists = 0;
  uint64_t wrong = 0;
  for (const Row& row : rows) {
    lists += row.tally.lists;
    wrong += row.tally.wrong_nodes + row.tally.wrong_racks;
    table.rows.push_back({text_cell(row.ring), count_cell(row.racks), count_cell(row.copies),
                          count_cell(row.tally.clusters), count_cell(row.tally.lists),
                          count_cell(row.tally.wrapping), count_cell(row.tally.wrong_nodes),
                          count_cell(row.tally.wrong_racks)});
  }
  table.notes.push_back(cat(lists, " lists, ", wrong,
                            " wrong: each should have min(copies, nodes) distinct nodes on "
                            "min(copies, racks) racks."));
  return table;
}

LineChart chart(const std::vector<Row>& rows) {
  LineChart chart{.title = "Racks that a list of copies is on (balanced table, mean of all clusters)",
                  .x_label = "copies",
                  .y_label = "racks in a list, mean",
                  .series = {}};
  for (const Row& row : rows) {
    if (row.ring != "table-balanced") continue;
    if (row.copies == 1)
      chart.series.push_back({.name = cat(row.racks, row.racks == 1 ? " rack" : " racks")});
    chart.series.back().points.emplace_back(
        row.copies, static_cast<double>(row.tally.racks_met) / static_cast<double>(row.tally.lists));
  }
  return chart;
}

}  // namespace

Report run_racks(const Settings& settings, Progress& progress) {
  const uint32_t virtual_nodes = settings.virtual_nodes.value_or(150);
  const KeySet keys = numbered_keys("key:", settings.keys.value_or(1000), settings.hash_or("sha1"));
  std::vector<Row> rows;
  const auto add = [&](const std::string& ring, const Check& check) {
    progress.step("racks: " + ring);
    for (Row& row : check_all(ring, settings, check)) rows.push_back(std::move(row));
  };
  add("table-balanced",
      [&](const Cluster& c) { return check_table(c, PlacerKind::kBalanced, virtual_nodes); });
  add("table-hashed", [&](const Cluster& c) { return check_table(c, PlacerKind::kHashed, virtual_nodes); });
  add("ring", [&](const Cluster& c) { return check_ring(c, virtual_nodes, keys); });
  const std::string nodes =
      settings.nodes ? std::to_string(*settings.nodes) : cat(kNodesLeast, " to ", kNodesMost);
  return {.experiment = "racks",
          .settings = {{"nodes", nodes},
                       {"vnodes", std::to_string(virtual_nodes)},
                       {"keys", std::to_string(keys.size())},
                       {"hash", keys.hash.name}},
          .tables = {table_of(cat("Lists of replicas, ", nodes, " nodes"), rows)},
          .charts = {chart(rows)}};
}

}  // namespace ringkv::ringlab
