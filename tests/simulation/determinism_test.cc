#include <gtest/gtest.h>

#include "tools/simulation/simulation.h"

namespace ringkv::simulation {
namespace {

SimulationSettings with_all_faults(uint64_t seed) {
  return {.seed = seed, .nodes = 5, .duration = std::chrono::seconds(20), .faults = *faults_from("all")};
}

TEST(Determinism, TheSameSeedIsTheSameRun) {
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    const SimulationResult first = simulate(with_all_faults(seed));
    const SimulationResult second = simulate(with_all_faults(seed));
    EXPECT_EQ(first.hash, second.hash) << "seed " << seed;
    EXPECT_EQ(first.events, second.events) << "seed " << seed;
    EXPECT_EQ(first.ok, second.ok) << "seed " << seed;
  }
}

TEST(Determinism, AnotherSeedIsAnotherRun) {
  EXPECT_NE(simulate(with_all_faults(1)).hash, simulate(with_all_faults(2)).hash);
}

}  // namespace
}  // namespace ringkv::simulation
