// What a lookup costs: the token, and the preference list.
//
// Targets: 15,000 points by search within 100 ns, the partition table within 10 ns after the hash, SHA-1 of a
// key of 16 bytes within 150 ns.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "base/token.h"
#include "replication/placer.h"
#include "replication/ring.h"
#include "replication/virtual_nodes.h"
#include "ringkv/hash_ring.h"

namespace ringkv {
namespace {

constexpr uint32_t kNodes = 100;
constexpr size_t kKeys = 1 << 16;  // a power of two; more than branch predictors remember

std::vector<Token> tokens() {
  std::vector<Token> tokens;
  for (size_t key = 0; key < kKeys; ++key) tokens.push_back(token_of(sha1_of("key:" + std::to_string(key))));
  return tokens;
}

std::string node_name(uint32_t number) { return "n" + std::to_string(1001 + number); }

void search_among_15000_points(benchmark::State& state) {
  std::vector<VirtualNode> points;
  for (uint32_t node = 0; node < kNodes; ++node)
    add_virtual_nodes(points, node_name(node), node, kVirtualNodesDefault,
                      [](std::string_view bytes) { return token_of(sha1_of(bytes)); });
  const VirtualNodeRing ring(std::move(points));
  const std::vector<Token> keys = tokens();
  size_t key = 0;
  for (auto _ : state) benchmark::DoNotOptimize(ring.node_at(ring.first_at_or_after(keys[key++ % kKeys])));
  state.counters["points"] = static_cast<double>(ring.size());
  state.counters["copy_bytes"] = static_cast<double>(ring.size() * (sizeof(Token) + sizeof(uint32_t)));
}
BENCHMARK(search_among_15000_points);

void partition_table_after_the_hash(benchmark::State& state) {
  RingDescription description;
  for (uint32_t node = 0; node < kNodes; ++node)
    description.members.push_back({.node = {node + 1}, .disk = {}, .name = node_name(node), .rack = ""});
  description.buckets.push_back({});
  description.owners = place_balanced({}, {}, description.members, kPartitionsDefault, description.replicas);
  const Ring ring(std::move(description));
  const std::vector<Token> keys = tokens();
  size_t key = 0;
  for (auto _ : state) {
    const Partition partition = partition_of(keys[key++ % kKeys], ring.partitions());
    benchmark::DoNotOptimize(ring.preference_list(partition)[0]);
  }
  state.counters["copy_bytes"] = static_cast<double>(ring.partitions() * sizeof(OwnerTable::value_type));
}
BENCHMARK(partition_table_after_the_hash);

void sha1_of_16_bytes(benchmark::State& state) {
  std::string key(16, 'k');
  for (auto _ : state) {
    ++key[0];
    benchmark::DoNotOptimize(token_of(sha1_of(key)));
  }
}
BENCHMARK(sha1_of_16_bytes);

void hash_ring_with_the_hash(benchmark::State& state) {
  HashRing ring;
  for (uint32_t node = 0; node < kNodes; ++node) {
    if (!ring.add_node(node_name(node)).ok()) state.SkipWithError("add_node");
  }
  std::string key(16, 'k');
  for (auto _ : state) {
    ++key[0];
    benchmark::DoNotOptimize(ring.node_for(key));
  }
}
BENCHMARK(hash_ring_with_the_hash);

}  // namespace
}  // namespace ringkv
