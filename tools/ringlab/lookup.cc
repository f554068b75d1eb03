// What finding a key's node costs a client that holds its own copy of the ring.
#include <bit>

#include "base/check.h"
#include "base/text.h"
#include "replication/placer.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/keys.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/schemes/partition_table.h"
#include "tools/ringlab/timing.h"

namespace ringkv::ringlab {
namespace {

constexpr int kRuns = 7;
constexpr uint64_t kHashedKeyBytes = 16;

// Keeps the compiler from leaving out what nobody reads.
void keep(uint64_t value) { asm volatile("" : : "r"(value) : "memory"); }

struct Row {
  std::string step;
  double nanoseconds = 0;
  double target_ns = 0;
  uint64_t comparisons = 0;
  uint64_t bytes = 0;
};

Row search_row(const VirtualNodeRing& ring, const KeySet& keys) {
  const double ns = nanoseconds_per_item(keys.size(), kRuns, [&] {
    uint64_t sum = 0;
    for (const uint64_t hash : keys.hashes) sum += ring.node_at(ring.first_at_or_after(hash));
    keep(sum);
  });
  return {"ring-search", ns, 100, static_cast<uint64_t>(std::bit_width(ring.size())),
          ring.size() * (sizeof(Token) + sizeof(uint32_t))};
}

Row table_row(const std::vector<LabNode>& nodes, const KeySet& keys) {
  std::vector<Member> members;
  for (const LabNode& node : nodes)
    members.push_back({.node = {node.number + 1}, .disk = {}, .name = node.name, .rack = ""});
  std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) { return a.name < b.name; });
  const OwnerTable table = place_balanced({}, {}, members, kPartitionsDefault, 1);
  std::vector<Token> tokens;
  for (const uint64_t hash : keys.hashes) tokens.push_back(keys.hash.stretched(hash));
  const double ns = nanoseconds_per_item(keys.size(), kRuns, [&] {
    uint64_t sum = 0;
    for (const Token token : tokens) sum += table[partition_of(token, kPartitionsDefault)];
    keep(sum);
  });
  return {"partition-table", ns, 10, 0, table.size() * sizeof(OwnerTable::value_type)};
}

Row hash_row(const KeySet& keys) {
  std::string key(kHashedKeyBytes, 'k');
  const double ns = nanoseconds_per_item(keys.size(), kRuns, [&] {
    uint64_t sum = 0;
    for (size_t i = 0; i < keys.size(); ++i) {
      key[0] = static_cast<char>(i);
      sum += keys.hash(key);
    }
    keep(sum);
  });
  return {cat(keys.hash.name, "-of-", kHashedKeyBytes, "-bytes"), ns, 150, 0, 0};
}

Table table_of(const std::vector<Row>& rows, size_t points) {
  Table table{
      .name = "lookup",
      .title = cat("A client's lookup among ", points, " points"),
      .columns = {"step", "ns", "target_ns", "comparisons", "bytes_of_a_copy"},
      .rows = {},
      .notes = {"Search and table begin after the hash. Times are of this machine, now: the fastest of "
                "several runs. A ring's copy has 8 bytes of token and 4 of node a point."}};
  for (const Row& row : rows) {
    table.rows.push_back({text_cell(row.step), number_cell(row.nanoseconds, 1), number_cell(row.target_ns, 0),
                          count_cell(row.comparisons), count_cell(row.bytes)});
  }
  return table;
}

BarChart chart(const std::vector<Row>& rows) {
  BarChart chart{.title = "A client's lookup, step by step",
                 .x_label = "step",
                 .y_label = "nanoseconds",
                 .series = {{"measured", {}}, {"target", {}}}};
  for (const Row& row : rows) {
    chart.categories.push_back(row.step);
    chart.series[0].values.push_back(row.nanoseconds);
    chart.series[1].values.push_back(row.target_ns);
  }
  return chart;
}

}  // namespace

Report run_lookup(const Settings& settings, Progress& progress) {
  const Hash hash = settings.hash_or("sha1");
  const uint32_t nodes = settings.nodes.value_or(100);
  const uint32_t virtual_nodes = settings.virtual_nodes.value_or(150);
  const KeySet keys = numbered_keys("key:", settings.keys.value_or(100'000), hash);
  const VirtualNodeRing ring = ring_of(numbered_nodes("s", nodes), virtual_nodes, hash);
  progress.step("lookup: timing");
  const std::vector<Row> rows = {search_row(ring, keys), table_row(numbered_nodes("s", nodes), keys),
                                 hash_row(keys)};
  return {.experiment = "lookup",
          .settings = {{"nodes", std::to_string(nodes)},
                       {"vnodes", std::to_string(virtual_nodes)},
                       {"keys", std::to_string(keys.size())},
                       {"hash", hash.name}},
          .tables = {table_of(rows, ring.size())},
          .charts = {chart(rows)}};
}

}  // namespace ringkv::ringlab
