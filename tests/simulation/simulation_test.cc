// A few runs; many more are the test `simulation_seeds`.
#include "tools/simulation/simulation.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

void expect_kept(uint64_t seed, const SimulationResult& result) {
  EXPECT_FALSE(result.violation.has_value())
      << "seed " << seed << ": " << result.violation->invariant << ": " << result.violation->what;
}

TEST(Simulation, SmallRingsKeepEveryPromiseUnderAllFaults) {
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    expect_kept(seed, simulate({.seed = seed,
                                .nodes = 1 + static_cast<uint32_t>(seed % 4),
                                .duration = seconds(30),
                                .faults = *faults_from("all")}));
  }
}

TEST(Simulation, ARingOfFiveKeepsEveryPromise) {
  SimulationResult sum;
  for (uint64_t seed = 1; seed <= 16; ++seed) {
    const SimulationResult result =
        simulate({.seed = seed, .nodes = 5, .duration = seconds(200), .faults = *faults_from("all")});
    expect_kept(seed, result);
    sum.operations += result.operations;
    sum.ok += result.ok;
    sum.lives += result.lives;
  }
  EXPECT_GT(sum.operations, 16U * 2000);
  EXPECT_GT(sum.ok, sum.operations / 2);
  EXPECT_GT(sum.lives, 16U * 10);
}

TEST(Simulation, ACoreOfARingOfFiveGoesOn) {
  SimulationResult sum;
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    const SimulationResult result = simulate({.seed = seed,
                                              .mode = Mode::kLiveness,
                                              .nodes = 5,
                                              .duration = seconds(100),
                                              .faults = *faults_from("all")});
    expect_kept(seed, result);
    for (const auto& [what, times] : result.sightings) sum.sightings[what] += times;
  }
  EXPECT_GT(sum.sightings.find(sighting::kCoreServesKey)->second, 40U);
}

TEST(Simulation, WithoutFaultsNearlyEverythingSucceeds) {
  const SimulationResult result = simulate({.seed = 1, .nodes = 5, .duration = seconds(60)});
  expect_kept(1, result);
  EXPECT_GT(result.operations, 800U);
  EXPECT_EQ(result.lives, 5U);
  // Some deadlines are shorter than the way to a node and back.
  EXPECT_GT(result.ok, result.operations * 98 / 100);
}

}  // namespace
}  // namespace ringkv::simulation
