// Share of the keys that moves when one node joins or leaves: hash mod N against the ring and against theory.
// Modulo moves N/(N+1) when N becomes N+1, the ring 1/(N+1).
#include <algorithm>

#include "base/check.h"
#include "base/text.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/measure.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/schemes/modulo.h"

namespace ringkv::ringlab {
namespace {

struct Step {
  uint32_t from = 0;
  uint32_t to = 0;

  double larger() const { return std::max(from, to); }
  double modulo_theory() const { return 100 * (larger() - 1) / larger(); }
  double ring_theory() const { return 100 / larger(); }
};

struct Moved {
  Step step;
  double modulo = 0;  // per cent
  double ring = 0;
};

const std::vector<Step> kPublished = {{2, 3}, {3, 4}, {4, 5}, {8, 9}, {16, 17}, {4, 3}, {100, 101}};

double percent_moved(Scheme& scheme, const KeySet& keys, const Step& step) {
  CHECK(scheme.become(numbered_nodes("s", step.from)).ok());
  const std::vector<uint32_t> before = scheme.owners(keys);
  CHECK(scheme.become(numbered_nodes("s", step.to)).ok());
  const Movement moved = movement(before, scheme.owners(keys), {});
  return percent(static_cast<double>(moved.moved), static_cast<double>(keys.size()));
}

Table moved_table(const std::vector<Moved>& all) {
  Table table{.name = "moved",
              .title = "Keys that move, per cent",
              .columns = {"nodes_before", "nodes_after", "modulo_percent", "modulo_theory_percent",
                          "ring_percent", "ring_theory_percent", "ring_gb_of_1_tb", "theory_gb_of_1_tb"},
              .rows = {},
              .notes = {}};
  for (const Moved& moved : all) {
    table.rows.push_back({count_cell(moved.step.from), count_cell(moved.step.to),
                          number_cell(moved.modulo, 2), number_cell(moved.step.modulo_theory(), 2),
                          number_cell(moved.ring, 2), number_cell(moved.step.ring_theory(), 2),
                          number_cell(10 * moved.ring, 1), number_cell(10 * moved.step.ring_theory(), 1)});
  }
  table.notes.emplace_back(
      "What the ring moves is the newcomer's or the leaver's own arcs: above or below theory as those are.");
  return table;
}

LineChart chart(std::vector<Moved> all) {
  std::erase_if(all, [](const Moved& moved) { return moved.step.from > moved.step.to; });
  LineChart chart{.title = "Keys that move when one node joins",
                  .x_label = "nodes before",
                  .y_label = "keys moved, per cent",
                  .log_x = true,
                  .log_y = true,
                  .series = {{.name = "hash mod N"},
                             {.name = "theory N/(N+1)", .theory = true},
                             {.name = "ring"},
                             {.name = "theory 1/(N+1)", .theory = true}}};
  for (const Moved& moved : all) {
    const double x = moved.step.from;
    chart.series[0].points.emplace_back(x, moved.modulo);
    chart.series[1].points.emplace_back(x, moved.step.modulo_theory());
    chart.series[2].points.emplace_back(x, moved.ring);
    chart.series[3].points.emplace_back(x, moved.step.ring_theory());
  }
  return chart;
}

}  // namespace

Report run_remap(const Settings& settings, Progress& progress) {
  const Hash hash = settings.hash_or("fnv1a32+fmix32");
  const uint32_t virtual_nodes = settings.virtual_nodes.value_or(150);
  const KeySet keys = numbered_keys("key:", settings.keys.value_or(100'000), hash);
  std::vector<Step> steps = kPublished;
  if (settings.nodes)
    steps = {{*settings.nodes, *settings.nodes + 1}, {*settings.nodes, *settings.nodes - 1}};
  std::vector<Moved> all;
  for (const Step& step : steps) {
    progress.step(cat("remap: ", step.from, " -> ", step.to, " nodes"));
    Modulo modulo;
    HashedRing ring(virtual_nodes, hash);
    all.push_back({step, percent_moved(modulo, keys, step), percent_moved(ring, keys, step)});
  }
  return {.experiment = "remap",
          .settings = {{"vnodes", std::to_string(virtual_nodes)},
                       {"keys", std::to_string(keys.size())},
                       {"hash", hash.name}},
          .tables = {moved_table(all)},
          .charts = {chart(all)}};
}

}  // namespace ringkv::ringlab
