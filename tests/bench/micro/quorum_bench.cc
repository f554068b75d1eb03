// What it costs to know that enough have answered.
#include <benchmark/benchmark.h>

#include "replication/quorum.h"

namespace ringkv {
namespace {

void quorum_of_two_of_three(benchmark::State& state) {
  const std::vector<NodeId> owners = {NodeId{1}, NodeId{2}, NodeId{3}};
  for (auto _ : state) {
    Quorum quorum(owners, 2);
    quorum.on_success(owners[0]);
    quorum.on_success(owners[2]);
    benchmark::DoNotOptimize(quorum.reached());
  }
}
BENCHMARK(quorum_of_two_of_three);

}  // namespace
}  // namespace ringkv
