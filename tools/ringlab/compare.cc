// All schemes side by side: how even, what a change moves, what they cost; and the law of hashed virtual
// nodes beside what others claimed.
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/measure.h"
#include "tools/ringlab/scheme_catalogue.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/timing.h"

namespace ringkv::ringlab {
namespace {

constexpr uint32_t kPublishedNodes[] = {10, 100, 1000};
constexpr double kWeights[] = {1, 1, 2, 4};  // by turns
constexpr uint32_t kLawNodes = 100;
constexpr uint32_t kLawVirtualNodes[] = {1, 10, 50, 150, 500, 1000};

struct Lab {
  SchemeShape shape;
  KeySet keys;

  double share(uint64_t part) const {
    return percent(static_cast<double>(part), static_cast<double>(keys.size()));
  }
};

struct Trial {
  std::vector<LabNode> before;
  std::vector<LabNode> grown;   // one more, the last
  std::vector<LabNode> shrunk;  // one less, from the middle
  uint32_t leaver = 0;
};

struct Measured {
  std::string scheme;
  Load load;
  double build_ms = 0;
  double lookup_ns = 0;
  size_t state_bytes = 0;
  Movement on_add;
  Movement on_removal;
  Status removal;  // why not, where a scheme refuses
};

double weight_of(const std::vector<LabNode>& nodes) {
  double sum = 0;
  for (const LabNode& node : nodes) sum += node.weight;
  return sum;
}

Trial trial_of(uint32_t nodes, bool weighted) {
  Trial trial;
  trial.grown = numbered_nodes("s", nodes + 1);
  for (LabNode& node : trial.grown) node.weight = weighted ? kWeights[node.number % std::size(kWeights)] : 1;
  trial.before.assign(trial.grown.begin(), trial.grown.end() - 1);
  trial.leaver = nodes / 2;
  trial.shrunk = trial.before;
  trial.shrunk.erase(trial.shrunk.begin() + trial.leaver);
  return trial;
}

// Adding and removing both start from the founded placement: a scheme may depend on its past.
Measured measure(const Lab& lab, const Trial& trial, const SchemeEntry& entry) {
  Measured measured{.scheme = entry.name};
  const std::unique_ptr<Scheme> grower = entry.make();
  measured.build_ms = milliseconds_of([&] { CHECK(grower->become(trial.before).ok()); });
  measured.state_bytes = grower->state_bytes();
  std::vector<uint32_t> owners;
  measured.lookup_ns = nanoseconds_per_item(lab.keys.size(), 1, [&] { owners = grower->owners(lab.keys); });
  measured.load = load_of(owners, trial.before);
  CHECK(grower->become(trial.grown).ok());
  measured.on_add = movement(owners, grower->owners(lab.keys), {.newcomer = trial.grown.back().number});

  const std::unique_ptr<Scheme> shrinker = entry.make();
  CHECK(shrinker->become(trial.before).ok());
  measured.removal = shrinker->become(trial.shrunk);
  if (measured.removal.ok())
    measured.on_removal = movement(owners, shrinker->owners(lab.keys), {.leaver = trial.leaver});
  return measured;
}

std::vector<Cell> row_of(const Lab& lab, const Trial& trial, const Measured& measured) {
  const double weight = weight_of(trial.before);
  const double leaver = trial.before[trial.leaver].weight;
  const bool removed = measured.removal.ok();
  return {text_cell(measured.scheme),
          number_cell(measured.load.max_over_mean, 3),
          number_cell(measured.load.max_over_min, 3),
          number_cell(lab.share(measured.on_add.moved), 2),
          number_cell(percent(trial.grown.back().weight, weight_of(trial.grown)), 2),
          count_cell(measured.on_add.needless),
          removed ? number_cell(lab.share(measured.on_removal.moved), 2) : text_cell("refused"),
          number_cell(percent(leaver, weight), 2),
          removed ? count_cell(measured.on_removal.needless) : text_cell("refused"),
          number_cell(measured.lookup_ns, 1),
          count_cell(measured.state_bytes),
          number_cell(measured.build_ms, 2)};
}

struct Group {
  uint32_t nodes = 0;
  bool weighted = false;
  std::vector<Measured> schemes;
};

Table table_of(const Lab& lab, const Group& group) {
  const Trial trial = trial_of(group.nodes, group.weighted);
  Table table{
      .name = cat("nodes_", group.nodes, group.weighted ? "_weighted" : "_equal"),
      .title = cat(group.nodes, " nodes, ", group.weighted ? "weights 1 1 2 4 by turns" : "equal weights",
                   "; one is added, ", trial.before[trial.leaver].name, " is removed"),
      .columns = {"scheme", "max_over_mean", "max_over_min", "add_percent", "add_ideal", "add_needless",
                  "remove_percent", "remove_ideal", "remove_needless", "lookup_ns", "bytes", "build_ms"},
      .rows = {},
      .notes = {}};
  for (const Measured& measured : group.schemes) {
    table.rows.push_back(row_of(lab, trial, measured));
    if (!measured.removal.ok()) table.notes.push_back("Refused: " + measured.removal.message() + ".");
  }
  return table;
}

Table law_table(const Lab& lab, uint32_t nodes) {
  Table table{
      .name = "law",
      .title = cat("Hashed virtual nodes, ", nodes, " nodes: standard deviation of a node's share"),
      .columns = {"vnodes", "deviation_percent", "law_percent"},
      .rows = {},
      .notes = {
          "Of the arcs themselves, so without the noise of sampled keys. The law is 100/sqrt(vnodes)."}};
  for (const uint32_t virtual_nodes : kLawVirtualNodes) {
    const VirtualNodeRing ring = ring_of(numbered_nodes("s", nodes), virtual_nodes, lab.keys.hash);
    table.rows.push_back({count_cell(virtual_nodes),
                          number_cell(100 * deviation_over_mean(arc_shares(ring, nodes, lab.keys.hash)), 2),
                          number_cell(100 / std::sqrt(virtual_nodes), 2)});
  }
  return table;
}

Table claims_table(const Hash& hash) {
  struct Claim {
    uint32_t nodes;
    std::string claimed;
  };
  Table table{
      .name = "claims",
      .title = "Published claims about 150 random points a node, beside what is measured",
      .columns = {"nodes", "deviation_percent", "law_percent", "fullest_above_mean_percent", "claimed"},
      .rows = {},
      .notes = {
          "Neither holds for random points: the deviation is that of the law, about 8 %, and the fullest "
          "node is further off."}};
  for (const Claim& claim : {Claim{100, "0.8 %"}, Claim{16, "under 2 %"}}) {
    const std::vector<double> shares =
        arc_shares(ring_of(numbered_nodes("s", claim.nodes), 150, hash), claim.nodes, hash);
    const double fullest = *std::max_element(shares.begin(), shares.end());
    table.rows.push_back({count_cell(claim.nodes), number_cell(100 * deviation_over_mean(shares), 2),
                          number_cell(100 / std::sqrt(150), 2),
                          number_cell(100 * (fullest * claim.nodes - 1), 2), text_cell(claim.claimed)});
  }
  return table;
}

// --- charts

BarChart evenness_chart(const std::vector<Group>& groups) {
  BarChart chart{.title = "How full the fullest node is, by scheme",
                 .x_label = "scheme",
                 .y_label = "load, fullest node over mean",
                 .reference = Reference{"even", 1}};
  for (const Group& group : groups) {
    chart.series.push_back({cat(group.nodes, group.weighted ? " nodes, weighted" : " nodes"), {}});
    chart.categories.clear();
    for (const Measured& measured : group.schemes) {
      chart.categories.push_back(measured.scheme);
      chart.series.back().values.push_back(measured.load.max_over_mean);
    }
  }
  return chart;
}

LineChart movement_chart(const Lab& lab, const std::vector<Group>& groups) {
  LineChart chart{.title = "Keys that move when one node joins, equal weights",
                  .x_label = "nodes before",
                  .y_label = "keys moved, per cent",
                  .log_x = true,
                  .log_y = true,
                  .series = {}};
  for (const Group& group : groups) {
    if (group.weighted) continue;
    if (chart.series.empty()) {
      chart.series.push_back({.name = "ideal 1/(N+1)", .theory = true});
      for (const Measured& measured : group.schemes) chart.series.push_back({.name = measured.scheme});
    }
    for (size_t i = 0; i < group.schemes.size(); ++i) {
      chart.series[i + 1].points.emplace_back(group.nodes, lab.share(group.schemes[i].on_add.moved));
    }
    chart.series.front().points.emplace_back(group.nodes, 100.0 / (group.nodes + 1));
  }
  return chart;
}

LineChart law_chart(const Table& law) {
  LineChart chart{.title = law.title,
                  .x_label = "virtual nodes per node",
                  .y_label = "standard deviation, per cent of mean",
                  .log_x = true,
                  .log_y = true,
                  .series = {{.name = "measured"}, {.name = "law 1/sqrt(V)", .theory = true}}};
  for (const std::vector<Cell>& row : law.rows) {
    const auto virtual_nodes = static_cast<double>(std::get<uint64_t>(row[0]));
    chart.series[0].points.emplace_back(virtual_nodes, std::get<Number>(row[1]).value);
    chart.series[1].points.emplace_back(virtual_nodes, std::get<Number>(row[2]).value);
  }
  return chart;
}

std::vector<Group> measure_all(const Lab& lab, const std::vector<uint32_t>& counts, Progress& progress) {
  const std::vector<SchemeEntry> schemes = scheme_catalogue(lab.shape, lab.keys.hash);
  std::vector<Group> groups;
  for (const uint32_t nodes : counts) {
    for (const bool weighted : {false, true}) {
      groups.push_back({.nodes = nodes, .weighted = weighted, .schemes = {}});
      const Trial trial = trial_of(nodes, weighted);
      for (const SchemeEntry& entry : schemes) {
        progress.step(cat("compare: ", nodes, " nodes", weighted ? " with weights, " : ", ", entry.name));
        groups.back().schemes.push_back(measure(lab, trial, entry));
      }
    }
  }
  return groups;
}

}  // namespace

Report run_compare(const Settings& settings, Progress& progress) {
  const Hash hash = settings.hash_or("sha1");
  Lab lab{.shape = {.virtual_nodes = settings.virtual_nodes.value_or(150)},
          .keys = numbered_keys("key:", settings.keys.value_or(100'000), hash)};
  std::vector<uint32_t> counts(std::begin(kPublishedNodes), std::end(kPublishedNodes));
  if (settings.nodes) counts = {*settings.nodes};
  const std::vector<Group> groups = measure_all(lab, counts, progress);
  const Table law = law_table(lab, settings.nodes.value_or(kLawNodes));
  Report report{.experiment = "compare",
                .settings = {{"vnodes", std::to_string(lab.shape.virtual_nodes)},
                             {"keys", std::to_string(lab.keys.size())},
                             {"hash", hash.name}}};
  for (const Group& group : groups) report.tables.push_back(table_of(lab, group));
  report.tables.push_back(law);
  report.tables.push_back(claims_table(hash));
  report.charts = {evenness_chart(groups), movement_chart(lab, groups), law_chart(law)};
  return report;
}

}  // namespace ringkv::ringlab
