// What is made of results, with runs that are made up.
#include "tools/simulation/seeds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "ringkv/version.h"

namespace ringkv::simulation {
namespace {

struct Told {
  bool kept = false;
  std::string hashes;
  std::string remarks;
};

Told told(const SeedFlags& flags, const Seeds::Simulate& simulate) {
  std::ostringstream hashes, remarks;
  const bool kept = Seeds(flags, simulate, {hashes, remarks}).run();
  return {kept, hashes.str(), remarks.str()};
}

SimulationResult kept_run(const SimulationSettings& settings) { return {.hash = settings.seed}; }

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

TEST(Seeds, TellsRunsInOrderOfTheirSeedsHoweverTheyEnd) {
  const Told found = told({.seed = 7, .seeds = 4, .jobs = 4}, [](const SimulationSettings& settings) {
    if (settings.seed == 7) std::this_thread::yield();
    return kept_run(settings);
  });
  EXPECT_TRUE(found.kept);
  EXPECT_EQ(found.hashes,
            "seed 7 ok hash=0000000000000007\nseed 8 ok hash=0000000000000008\n"
            "seed 9 ok hash=0000000000000009\nseed 10 ok hash=000000000000000a\n");
}

TEST(Seeds, ABrokenPromiseIsNamedWithSeedBuildAndTheCommandToRepeat) {
  const SeedFlags flags{.seed = 16, .seeds = 3, .nodes = 4, .minutes = 2, .faults = "kill,loss"};
  const Told found = told(flags, [](const SimulationSettings& settings) {
    SimulationResult result = kept_run(settings);
    if (settings.seed == 17) result.violation = Violation{"I3", "operation 4 goes back in time"};
    return result;
  });
  EXPECT_FALSE(found.kept);
  EXPECT_TRUE(says(found.remarks, "seed 17 breaks I3: operation 4 goes back in time")) << found.remarks;
  EXPECT_TRUE(says(found.remarks, commit())) << found.remarks;
  EXPECT_TRUE(says(found.remarks,
                   "kvsim --seed 17 --nodes 4 --minutes 2 --operations-per-second 12 --faults kill,loss"))
      << found.remarks;
  EXPECT_TRUE(says(found.hashes, "seed 16 ok")) << found.hashes;
  EXPECT_TRUE(says(found.hashes, "seed 18 ok")) << found.hashes;
}

TEST(Seeds, TheFirstBrokenPromiseIsShrunkToWhatBreaksIt) {
  uint64_t runs = 0;
  const auto simulate = [&](const SimulationSettings& settings) {
    ++runs;
    SimulationResult result = kept_run(settings);
    for (const char* name : {"kill:n1:1", "kill:n2:1", "cut:3"}) {
      if (!settings.only_faults || settings.only_faults->contains(name))
        result.strikes.push_back({name, std::chrono::milliseconds(12345), {}});
    }
    const bool struck = std::any_of(result.strikes.begin(), result.strikes.end(),
                                    [](const Happening& strike) { return strike.name == "kill:n2:1"; });
    if (struck && settings.seed < 3) result.violation = Violation{"I1", "operation 4 is lost"};
    return result;
  };
  const Told found = told({.seeds = 3, .faults = "kill,cut"}, simulate);
  EXPECT_TRUE(says(found.remarks, "to 1 strikes and 0 operations")) << found.remarks;
  EXPECT_TRUE(says(found.remarks, "12.345 s  kill:n2:1")) << found.remarks;
  EXPECT_TRUE(says(found.remarks, "--seed 1 ")) << found.remarks;
  EXPECT_TRUE(says(found.remarks, "--only-faults kill:n2:1")) << found.remarks;
  EXPECT_TRUE(says(found.remarks, "seed 2 breaks I1")) << found.remarks;

  runs = 0;
  EXPECT_FALSE(says(told({.seeds = 3, .shrink_s = 0}, simulate).remarks, "shrunk"));
  EXPECT_EQ(runs, 3U);
}

TEST(Seeds, EachHundredthIsRunTwiceAndTheTwoMustBeTheSame) {
  std::atomic<uint64_t> runs = 0;
  const Told same = told({.seed = 99, .seeds = 102}, [&](const SimulationSettings& settings) {
    ++runs;
    return kept_run(settings);
  });
  EXPECT_TRUE(same.kept);
  EXPECT_EQ(runs, 104U);

  runs = 0;
  const Told different = told({.seed = 99, .seeds = 2}, [&](const SimulationSettings& settings) {
    return SimulationResult{.hash = settings.seed + ++runs};
  });
  EXPECT_FALSE(different.kept);
  EXPECT_TRUE(says(different.remarks, "seed 100 breaks determinism")) << different.remarks;
}

TEST(Seeds, ALongRunWithAllFaultsMustMeetEverything) {
  const auto run = [](uint64_t times) {
    return told({.seeds = 10, .minutes = 200}, [times](const SimulationSettings& settings) {
      SimulationResult result = kept_run(settings);
      result.sightings = {{"a comet", settings.seed == 3 ? times : 0}, {"liveness: a comet", 0}};
      return result;
    });
  };
  EXPECT_TRUE(run(1).kept);
  const Told never = run(0);
  EXPECT_FALSE(never.kept);
  EXPECT_TRUE(says(never.remarks, "there was never a comet")) << never.remarks;
}

}  // namespace
}  // namespace ringkv::simulation
