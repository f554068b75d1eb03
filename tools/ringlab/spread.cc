// How even a ring of hashed virtual nodes is. The standard deviation of a node's share falls with the square
// root of their number, so that ten times as even costs a hundred times the points.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "base/text.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/measure.h"
#include "tools/ringlab/schemes/hashed_ring.h"

namespace ringkv::ringlab {
namespace {

struct Measured {
  uint32_t virtual_nodes = 0;
  Load load;
  double arc_deviation = 0;  // of the exact shares of the circle, over mean

  double spread_percent() const { return 100 * static_cast<double>(load.most - load.fewest) / load.mean(); }
};

struct Claim {
  uint32_t virtual_nodes;
  std::string text;
};

const std::vector<uint32_t> kPublished = {1, 2, 10, 150, 500};

// A published laboratory of 16 nodes; its hash isn't known.
const std::vector<Claim> kClaims = {
    {1, "22 % against 4 % of the traffic"}, {20, "15 % skew"}, {150, "under 2 % (2400 points)"}};
constexpr uint32_t kClaimNodes = 16;

Measured measure(uint32_t nodes, uint32_t virtual_nodes, const KeySet& keys) {
  HashedRing ring(virtual_nodes, keys.hash);
  CHECK(ring.become(numbered_nodes("s", nodes)).ok());
  return {virtual_nodes, load_of(ring.owners(keys), numbered_nodes("s", nodes)),
          deviation_over_mean(ring.shares())};
}

Table spread_table(uint32_t nodes, const std::vector<Measured>& all) {
  Table table{
      .name = "spread",
      .title = cat("Keys on the node with the fewest and with the most, ", nodes, " nodes"),
      .columns = {"vnodes", "fewest", "most", "spread_percent", "max_over_min", "arc_deviation_percent",
                  "law_percent"},
      .rows = {},
      .notes = {
          "spread_percent is (most - fewest) / mean. arc_deviation_percent is the standard deviation of "
          "the nodes' arcs over their mean; for random points the law is 100/sqrt(vnodes)."}};
  for (const Measured& one : all) {
    table.rows.push_back({count_cell(one.virtual_nodes), count_cell(one.load.fewest),
                          count_cell(one.load.most), number_cell(one.spread_percent(), 1),
                          number_cell(one.load.max_over_min, 3), number_cell(100 * one.arc_deviation, 1),
                          number_cell(100 / std::sqrt(one.virtual_nodes), 1)});
  }
  return table;
}

Table claims_table(uint32_t nodes, const std::vector<Hash>& hashes, const std::vector<Claim>& claims,
                   uint64_t keys) {
  Table table{
      .name = "claims",
      .title = cat("A published laboratory's claims beside what is measured, ", nodes, " nodes"),
      .columns = {"hash", "vnodes", "most_percent", "least_percent", "fair_percent", "skew_percent",
                  "deviation_percent", "claimed"},
      .rows = {},
      .notes = {"most_percent and least_percent are shares of all keys; skew_percent is how far the fullest "
                "node is above the mean."}};
  for (const Hash& hash : hashes) {
    const KeySet set = numbered_keys("key:", keys, hash);
    for (const Claim& claim : claims) {
      const Load load = measure(nodes, claim.virtual_nodes, set).load;
      const auto share = [&](uint64_t part) {
        return number_cell(percent(static_cast<double>(part), static_cast<double>(load.total())), 2);
      };
      table.rows.push_back({text_cell(hash.name), count_cell(claim.virtual_nodes), share(load.most),
                            share(load.fewest), number_cell(100.0 / nodes, 2),
                            number_cell(100 * (load.max_over_mean - 1), 1),
                            number_cell(100 * load.deviation_over_mean, 1), text_cell(claim.text)});
    }
  }
  return table;
}

LineChart line_chart(uint32_t nodes, const std::vector<Measured>& all) {
  LineChart chart{.title = cat("How even a ring of ", nodes, " nodes is"),
                  .x_label = "virtual nodes per node",
                  .y_label = "per cent of the mean",
                  .log_x = true,
                  .log_y = true,
                  .series = {{.name = "spread: (most - fewest) / mean"},
                             {.name = "standard deviation of the arcs"},
                             {.name = "law 1/sqrt(V)", .theory = true}}};
  for (const Measured& one : all) {
    const double x = one.virtual_nodes;
    chart.series[0].points.emplace_back(x, one.spread_percent());
    chart.series[1].points.emplace_back(x, 100 * one.arc_deviation);
    chart.series[2].points.emplace_back(x, 100 / std::sqrt(x));
  }
  return chart;
}

BarChart bar_chart(uint32_t nodes, const std::vector<Measured>& all) {
  BarChart chart{.title = "Keys per node",
                 .x_label = "node",
                 .y_label = "keys",
                 .reference = Reference{"fair share", all.front().load.mean()}};
  for (const LabNode& node : numbered_nodes("s", nodes)) chart.categories.push_back(node.name);
  for (const Measured& one : all) {
    const std::vector<uint64_t>& keys = one.load.keys;
    chart.series.push_back({cat("V = ", one.virtual_nodes), {keys.begin(), keys.end()}});
  }
  return chart;
}

RingChart ring_chart(uint32_t nodes, const std::vector<uint32_t>& virtual_nodes, const Hash& hash) {
  RingChart chart{.title = "The circle, by owner"};
  for (const LabNode& node : numbered_nodes("s", nodes)) chart.nodes.push_back(node.name);
  for (const uint32_t count : virtual_nodes) {
    const VirtualNodeRing ring = ring_of(numbered_nodes("s", nodes), count, hash);
    RingChart::Circle circle{.title = cat("V = ", count)};
    size_t before = ring.size() - 1;
    for (size_t place = 0; place < ring.size(); before = place++) {
      if (ring.token_at(place) == ring.token_at(before)) continue;
      circle.arcs.push_back({.begin = static_cast<double>(ring.token_at(before)) / hash.circle(),
                             .end = static_cast<double>(ring.token_at(place)) / hash.circle(),
                             .node = ring.node_at(place)});
    }
    chart.circles.push_back(std::move(circle));
  }
  return chart;
}

std::vector<Chart> charts(uint32_t nodes, const std::vector<Measured>& all, const Hash& hash) {
  // More nodes than colours can be told apart by nobody; more than three circles are too small.
  constexpr uint32_t kReadable = 16;
  std::vector<uint32_t> circles;
  for (const Measured& one : all) {
    if (circles.size() < 3) circles.push_back(one.virtual_nodes);
  }
  std::vector<Chart> charts = {line_chart(nodes, all), bar_chart(nodes, all)};
  if (nodes <= kReadable) charts.emplace_back(ring_chart(nodes, circles, hash));
  return charts;
}

}  // namespace

Report run_spread(const Settings& settings, Progress& progress) {
  const Hash hash = settings.hash_or("fnv1a32+fmix32");
  const uint32_t nodes = settings.nodes.value_or(8);
  const KeySet keys = numbered_keys("key:", settings.keys.value_or(100'000), hash);
  const std::vector<uint32_t> virtual_nodes =
      settings.virtual_nodes ? std::vector<uint32_t>{*settings.virtual_nodes} : kPublished;
  std::vector<Measured> all;
  for (const uint32_t count : virtual_nodes) {
    progress.step(cat("spread: ", count, " virtual nodes"));
    all.push_back(measure(nodes, count, keys));
  }
  progress.step("spread: claims");
  std::vector<Claim> claims = kClaims;
  if (settings.virtual_nodes) {
    std::erase_if(claims, [&](const Claim& claim) { return claim.virtual_nodes != *settings.virtual_nodes; });
    if (claims.empty()) claims.push_back({*settings.virtual_nodes, "-"});
  }
  const std::vector<Hash> claim_hashes =
      settings.hash ? std::vector<Hash>{*settings.hash}
                    : std::vector<Hash>{hash_named("sha1"), hash_named("murmur3_128")};
  return {.experiment = "spread",
          .settings = {{"nodes", std::to_string(nodes)},
                       {"keys", std::to_string(keys.size())},
                       {"hash", hash.name}},
          .tables = {spread_table(nodes, all),
                     claims_table(settings.nodes.value_or(kClaimNodes), claim_hashes, claims, keys.size())},
          .charts = charts(nodes, all, hash)};
}

}  // namespace ringkv::ringlab
