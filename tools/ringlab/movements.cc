// A published laboratory of eight shards, to the digit: keys key-0…, shards shard-0…, FNV-1a of 32 bits, 500
// virtual nodes.
#include "base/check.h"
#include "base/text.h"
#include "tools/ringlab/experiment.h"
#include "tools/ringlab/java_random.h"
#include "tools/ringlab/measure.h"
#include "tools/ringlab/schemes/hashed_ring.h"
#include "tools/ringlab/schemes/modulo.h"

namespace ringkv::ringlab {
namespace {

constexpr uint64_t kSplit = 16;       // parts of the hot key
constexpr uint64_t kSeed = 42;        // of the other requests
constexpr uint64_t kHotPercent = 40;  // of the requests
constexpr uint64_t kRequestsPerKey = 2;

struct Lab {
  uint32_t shards;
  uint32_t virtual_nodes;
  KeySet keys;

  std::vector<LabNode> nodes(uint32_t count) const { return numbered_nodes("shard-", count, 0); }
  double share(uint64_t moved) const {
    return percent(static_cast<double>(moved), static_cast<double>(keys.size()));
  }
};

Table load_table(const Lab& lab, const Load& load) {
  return {.name = "mod_load",
          .title = cat("Keys per shard, hash mod ", lab.shards),
          .columns = {"max_over_min", "keys_by_shard"},
          .rows = {{number_cell(load.max_over_min, 3), list_cell(load.keys)}},
          .notes = {}};
}

struct HotLoads {
  Load whole;
  Load split;
};

// The hot key's requests come first. Modulo: the ring would only add its own unevenness.
HotLoads hot_loads(const Lab& lab) {
  const uint64_t requests = kRequestsPerKey * lab.keys.size();
  const uint64_t hot = requests * kHotPercent / 100;
  std::vector<uint64_t> whole(lab.shards, 0);
  whole[lab.keys.hash("hot-key") % lab.shards] += hot;
  std::vector<uint64_t> split(lab.shards, 0);
  for (uint64_t request = 0; request < hot; ++request)
    ++split[lab.keys.hash(cat("hot-key#", request % kSplit)) % lab.shards];
  JavaRandom random(kSeed);
  for (uint64_t request = hot; request < requests; ++request) {
    const uint64_t hash = lab.keys.hashes[random.next_int(static_cast<uint32_t>(lab.keys.size()))];
    ++whole[hash % lab.shards];
    ++split[hash % lab.shards];
  }
  return {load_of(whole), load_of(split)};
}

Table hot_table(const Lab& lab, const HotLoads& loads) {
  const auto row = [](const std::string& key, uint64_t asked, const Load& load) {
    return std::vector<Cell>{text_cell(key), count_cell(asked), number_cell(load.max_over_min, 3),
                             list_cell(load.keys)};
  };
  return {.name = "hot_key",
          .title = cat("Requests per shard, ", kRequestsPerKey * lab.keys.size(), " in all, ", kHotPercent,
                       " % of them for one key"),
          .columns = {"hot_key", "asked_by_a_read", "max_over_min", "requests_by_shard"},
          .rows = {row("whole", 1, loads.whole), row("split", kSplit, loads.split)},
          .notes = {cat("The split's cost: a read of the split key asks all ", kSplit, " parts.")}};
}

Table growth_table(const Lab& lab) {
  const std::vector<LabNode> before = lab.nodes(lab.shards);
  const std::vector<LabNode> after = lab.nodes(lab.shards + 1);
  const auto row = [&](const std::string& name, Scheme& scheme) {
    CHECK(scheme.become(before).ok());
    const std::vector<uint32_t> old_owners = scheme.owners(lab.keys);
    CHECK(scheme.become(after).ok());
    const Movement moved = movement(old_owners, scheme.owners(lab.keys), {.newcomer = lab.shards});
    return std::vector<Cell>{text_cell(name), count_cell(moved.moved), number_cell(lab.share(moved.moved), 1),
                             number_cell(100.0 / (lab.shards + 1), 1), count_cell(moved.needless)};
  };
  Modulo modulo;
  HashedRing ring(lab.virtual_nodes, lab.keys.hash);
  std::vector<std::vector<Cell>> rows = {row("modulo", modulo), row("ring", ring)};
  const double newcomer = 100 * ring.shares().back();
  return {
      .name = "growth",
      .title = cat("Keys that move, ", lab.shards, " -> ", lab.shards + 1, " shards"),
      .columns = {"scheme", "moved", "moved_percent", "fair_percent", "needless"},
      .rows = std::move(rows),
      .notes = {cat("The ring's share is no rounding: the newcomer's arcs are ", to_text(Number{newcomer, 1}),
                    " % of the circle. Raw FNV-1a spreads points of similar "
                    "names unevenly.")}};
}

struct Loss {
  Load survivors;
  Table table;
};

Loss lose_first_shard(const Lab& lab) {
  std::vector<LabNode> nodes = lab.nodes(lab.shards);
  HashedRing ring(lab.virtual_nodes, lab.keys.hash);
  CHECK(ring.become(nodes).ok());
  const std::vector<uint32_t> before = ring.owners(lab.keys);
  nodes.erase(nodes.begin());
  CHECK(ring.become(nodes).ok());
  const std::vector<uint32_t> after = ring.owners(lab.keys);
  const Movement moved = movement(before, after, {.leaver = 0});
  const Load load = load_of(after, nodes);
  return {
      load,
      {.name = "loss",
       .title = "Ring: shard-0 is lost",
       .columns = {"moved", "moved_percent", "fair_percent", "unroutable", "needless", "keys_by_survivor"},
       .rows = {{count_cell(moved.moved), number_cell(lab.share(moved.moved), 1),
                 number_cell(100.0 / lab.shards, 1), count_cell(lab.keys.size() - load.total()),
                 count_cell(moved.needless), list_cell(load.keys)}},
       .notes = {}}};
}

std::vector<double> as_doubles(const std::vector<uint64_t>& values) { return {values.begin(), values.end()}; }

std::vector<Chart> charts(const Lab& lab, const HotLoads& hot, const Load& survivors) {
  std::vector<std::string> names;
  for (const LabNode& node : lab.nodes(lab.shards)) names.push_back(node.name);
  const auto requests = static_cast<double>(kRequestsPerKey * lab.keys.size());
  BarChart requests_chart{.title = cat("One key with ", kHotPercent, " % of the requests, whole and split"),
                          .x_label = "shard",
                          .y_label = "requests",
                          .categories = names,
                          .series = {{"hot key whole", as_doubles(hot.whole.keys)},
                                     {cat("hot key split into ", kSplit), as_doubles(hot.split.keys)}},
                          .reference = Reference{"fair share", requests / lab.shards}};
  HashedRing ring(lab.virtual_nodes, lab.keys.hash);
  CHECK(ring.become(lab.nodes(lab.shards)).ok());
  std::vector<double> after = {0};
  for (const uint64_t keys : survivors.keys) after.push_back(static_cast<double>(keys));
  BarChart loss_chart{
      .title = "Ring: keys per shard before and after shard-0 is lost",
      .x_label = "shard",
      .y_label = "keys",
      .categories = names,
      .series = {{"before", as_doubles(load_of(ring.owners(lab.keys), lab.nodes(lab.shards)).keys)},
                 {"after", after}},
      .reference = Reference{"fair share before", static_cast<double>(lab.keys.size()) / lab.shards}};
  return {requests_chart, loss_chart};
}

}  // namespace

Report run_movements(const Settings& settings, Progress& progress) {
  const Lab lab{.shards = settings.nodes.value_or(8),
                .virtual_nodes = settings.virtual_nodes.value_or(500),
                .keys = numbered_keys("key-", settings.keys.value_or(100'000), settings.hash_or("fnv1a32"))};
  Modulo modulo;
  CHECK(modulo.become(lab.nodes(lab.shards)).ok());
  const Load load = load_of(modulo.owners(lab.keys), lab.nodes(lab.shards));
  progress.step("movements: requests");
  const HotLoads hot = hot_loads(lab);
  progress.step("movements: changes");
  const Loss loss = lose_first_shard(lab);
  return {.experiment = "movements",
          .settings = {{"nodes", std::to_string(lab.shards)},
                       {"vnodes", std::to_string(lab.virtual_nodes)},
                       {"keys", std::to_string(lab.keys.size())},
                       {"hash", lab.keys.hash.name}},
          .tables = {load_table(lab, load), hot_table(lab, hot), growth_table(lab), loss.table},
          .charts = charts(lab, hot, loss.survivors)};
}

}  // namespace ringkv::ringlab
