// Consistent hashing with bounded loads: what the bound c costs. A tight one evens the load, spills many keys
// past their first node, and lets a newcomer move keys between others.
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/measure.h"
#include "tools/ringlab/schemes/bounded_loads.h"

namespace ringkv::ringlab {
namespace {

constexpr double kBounds[] = {1.1, 1.25, 2};

struct Row {
  std::string bound;
  uint64_t cap = 0;  // 0: none
  Load load;
  uint64_t spilled = 0;
  Movement on_add;
};

struct Lab {
  uint32_t nodes;
  KeySet keys;

  double share(uint64_t part) const {
    return percent(static_cast<double>(part), static_cast<double>(keys.size()));
  }
};

Row measure(const Lab& lab, Scheme& scheme, const std::vector<uint32_t>& unbounded) {
  const std::vector<LabNode> nodes = numbered_nodes("s", lab.nodes);
  CHECK(scheme.become(nodes).ok());
  const std::vector<uint32_t> before = scheme.owners(lab.keys);
  CHECK(scheme.become(numbered_nodes("s", lab.nodes + 1)).ok());
  Row row{.load = load_of(before, nodes),
          .on_add = movement(before, scheme.owners(lab.keys), {.newcomer = lab.nodes})};
  for (size_t key = 0; key < before.size(); ++key) row.spilled += before[key] != unbounded[key] ? 1 : 0;
  return row;
}

std::vector<Row> measure_all(const Lab& lab, uint32_t virtual_nodes, Progress& progress) {
  HashedRing ring(virtual_nodes, lab.keys.hash);
  CHECK(ring.become(numbered_nodes("s", lab.nodes)).ok());
  const std::vector<uint32_t> unbounded = ring.owners(lab.keys);
  std::vector<Row> rows;
  for (const double bound : kBounds) {
    progress.step(cat("bounded: ", virtual_nodes, " virtual nodes, c = ", bound));
    BoundedLoads scheme(bound, virtual_nodes, lab.keys.hash);
    CHECK(scheme.become(numbered_nodes("s", lab.nodes)).ok());
    const uint64_t cap = scheme.caps(lab.keys.size()).front();
    rows.push_back(measure(lab, scheme, unbounded));
    rows.back().bound = cat(bound);
    rows.back().cap = cap;
  }
  rows.push_back(measure(lab, ring, unbounded));
  rows.back().bound = "none";
  return rows;
}

Table table_of(const Lab& lab, uint32_t virtual_nodes, const std::vector<Row>& rows) {
  Table table{.name = cat("vnodes_", virtual_nodes),
              .title = cat("Bounded loads; virtual nodes per node: ", virtual_nodes),
              .columns = {"bound", "cap", "most", "max_over_mean", "spilled", "spilled_percent",
                          "moved_on_add", "moved_percent", "ideal_percent", "needless"},
              .rows = {},
              .notes = {}};
  for (const Row& row : rows) {
    table.rows.push_back({text_cell(row.bound), row.cap > 0 ? count_cell(row.cap) : text_cell("-"),
                          count_cell(row.load.most), number_cell(row.load.max_over_mean, 3),
                          count_cell(row.spilled), number_cell(lab.share(row.spilled), 2),
                          count_cell(row.on_add.moved), number_cell(lab.share(row.on_add.moved), 2),
                          number_cell(100.0 / (lab.nodes + 1), 2), count_cell(row.on_add.needless)});
  }
  table.notes.emplace_back(
      "cap is ceil(c x average). A spilled key isn't on its first node. needless: moved, but not to the "
      "newcomer.");
  return table;
}

// Loads in descending order, so that the flat top of a bound is seen.
LineChart chart(const Lab& lab, uint32_t virtual_nodes, const std::vector<Row>& rows) {
  LineChart chart{.title = cat("Load by node, fullest first; virtual nodes per node: ", virtual_nodes),
                  .x_label = "node, in order of load",
                  .y_label = "keys",
                  .series = {{.name = "average", .points = {}, .theory = true}}};
  const double mean = rows.front().load.mean();
  chart.series.front().points = {{1, mean}, {lab.nodes, mean}};
  for (const Row& row : rows) {
    std::vector<uint64_t> loads = row.load.keys;
    std::sort(loads.rbegin(), loads.rend());
    LineChart::Series series{.name = row.cap > 0 ? "c = " + row.bound : "no bound"};
    for (size_t i = 0; i < loads.size(); ++i)
      series.points.emplace_back(static_cast<double>(i + 1), static_cast<double>(loads[i]));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

}  // namespace

Report run_bounded(const Settings& settings, Progress& progress) {
  const Hash hash = settings.hash_or("sha1");
  const Lab lab{.nodes = settings.nodes.value_or(100),
                .keys = numbered_keys("key:", settings.keys.value_or(100'000), hash)};
  const std::vector<uint32_t> virtual_nodes =
      settings.virtual_nodes ? std::vector<uint32_t>{*settings.virtual_nodes} : std::vector<uint32_t>{1, 150};
  Report report{.experiment = "bounded",
                .settings = {{"nodes", std::to_string(lab.nodes)},
                             {"keys", std::to_string(lab.keys.size())},
                             {"hash", hash.name}}};
  for (const uint32_t count : virtual_nodes) {
    const std::vector<Row> rows = measure_all(lab, count, progress);
    report.tables.push_back(table_of(lab, count, rows));
    report.charts.emplace_back(chart(lab, count, rows));
  }
  return report;
}

}  // namespace ringkv::ringlab
