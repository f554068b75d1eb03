// Runs are real; the promise that they break is planted: that no node is killed for the second time after
// some client has asked for its twentieth operation.
#include "tools/simulation/shrinker.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ringkv::simulation {
namespace {

bool is_kill(const Happening& strike) { return strike.name.starts_with("kill:"); }

SimulationResult with_planted_rule(const SimulationSettings& settings) {
  SimulationResult result = simulate(settings);
  const auto twentieth = std::find_if(result.operations_asked.begin(), result.operations_asked.end(),
                                      [](const Happening& one) { return one.name == "20"; });
  if (twentieth == result.operations_asked.end() || result.violation) return result;
  const auto kills_after =
      std::count_if(result.strikes.begin(), result.strikes.end(),
                    [&](const auto& strike) { return is_kill(strike) && strike.at > twentieth->at; });
  if (kills_after >= 2) result.violation = Violation{"planted", "two nodes are killed"};
  return result;
}

TEST(Shrinker, LeavesWhatBreaksThePromiseAndNothingElse) {
  const std::string faults = "kill,cut,loss,freeze";
  SimulationSettings settings{
      .nodes = 3, .duration = std::chrono::seconds(60), .faults = *faults_from(faults)};
  SimulationResult failed;
  for (; !failed.violation; ++settings.seed) failed = with_planted_rule(settings);
  --settings.seed;
  ASSERT_EQ(failed.violation->invariant, "planted");
  ASSERT_GT(failed.operations_asked.size(), 300U);

  const Shrinker::Shrunk shrunk =
      Shrinker(with_planted_rule, std::chrono::seconds(300)).shrink(settings, faults, failed);

  EXPECT_EQ(shrunk.faults, "kill");
  ASSERT_EQ(shrunk.result.strikes.size(), 2U);
  EXPECT_TRUE(std::all_of(shrunk.result.strikes.begin(), shrunk.result.strikes.end(), is_kill));
  ASSERT_EQ(shrunk.result.operations_asked.size(), 1U);
  EXPECT_EQ(shrunk.result.operations_asked[0].name, "20");
  EXPECT_FALSE(shrunk.result.operations_asked[0].what.empty());
  // What is told is what repeats it.
  EXPECT_EQ(with_planted_rule(shrunk.settings).hash, shrunk.result.hash);
}

TEST(Shrinker, WithoutPatienceNothingIsTried) {
  const SimulationResult failed{.violation = Violation{"I1", "lost"}, .strikes = {{"kill:n1:1", {}, {}}}};
  const Shrinker::Shrunk shrunk = Shrinker(simulate, std::chrono::seconds(0)).shrink({}, "kill", failed);
  EXPECT_EQ(shrunk.runs, 0U);
  EXPECT_EQ(shrunk.result.strikes.size(), 1U);
}

}  // namespace
}  // namespace ringkv::simulation
