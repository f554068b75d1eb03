#include "tools/simulation/simulation.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

TEST(Simulation, KeepsEveryPromiseUnderAllFaults) {
  SimulationResult sum;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const SimulationResult result = simulate({.seed = seed,
                                              .nodes = 1 + static_cast<uint32_t>(seed % 5),
                                              .duration = seconds(30),
                                              .faults = *faults_from("all")});
    EXPECT_FALSE(result.violation.has_value())
        << "seed " << seed << ": " << result.violation->invariant << ": " << result.violation->what;
    sum.operations += result.operations;
    sum.ok += result.ok;
    sum.unknown += result.unknown;
    sum.lives += result.lives;
    sum.power_cuts += result.power_cuts;
  }
  // A run in which nothing happens proves nothing.
  EXPECT_GT(sum.operations, 40'000U);
  EXPECT_GT(sum.ok, sum.operations / 2);
  EXPECT_GT(sum.unknown, 100U);
  EXPECT_GT(sum.lives, 200U);
  EXPECT_GT(sum.power_cuts, 50U);
}

TEST(Simulation, WithoutFaultsEverythingSucceeds) {
  const SimulationResult result = simulate({.seed = 1, .nodes = 2, .duration = seconds(20)});
  EXPECT_FALSE(result.violation.has_value());
  EXPECT_EQ(result.unknown, 0U);
  EXPECT_EQ(result.lives, 2U);
  EXPECT_GT(result.operations, 900U);
}

}  // namespace
}  // namespace ringkv::simulation
