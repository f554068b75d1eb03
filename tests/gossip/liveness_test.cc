// What the failure detector promises of a whole cluster, over many seeds; each claim prints its worst case.
#include <gtest/gtest.h>

#include <iostream>

#include "tests/gossip/liveness_network.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

double in_seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e6; }

void report(const char* what, Duration worst) {
  std::cout << "  " << what << ": worst " << in_seconds(worst) << " s\n";
}

// The moment within a round is chance, too.
Duration some_time(uint64_t seed) { return seconds(5) + Duration(seed * 7'919'000 % 3'000'000); }

// 240 clusters, 3 to 16 members.
TEST(Liveness, AStoppedNodeIsDownEverywhereWithinFiveSeconds) {
  Duration worst{};
  for (uint64_t seed = 1; seed <= 240; ++seed) {
    LivenessNetwork network({.nodes = 3 + seed % 14, .seed = seed});
    network.run_for(some_time(seed));
    network.stop(seed % network.size());
    const Duration taken = network.run_until(
        [&] { return network.all_believe(seed % network.size(), Health::kDown); }, seconds(10));
    EXPECT_LE(taken, seconds(5)) << "seed " << seed;
    EXPECT_EQ(network.downs(), network.size() - 1) << "seed " << seed;
    worst = std::max(worst, taken);
  }
  report("DOWN everywhere, 3 to 16 members", worst);
}

TEST(Liveness, OfTwoNodesTheSurvivorKnowsWithinFiveSeconds) {
  Duration worst{};
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    LivenessNetwork network({.nodes = 2, .seed = seed});
    network.run_for(some_time(seed));
    network.stop(0);
    const Duration taken =
        network.run_until([&] { return network.all_believe(0, Health::kDown); }, seconds(10));
    EXPECT_LE(taken, seconds(5)) << "seed " << seed;
    worst = std::max(worst, taken);
  }
  report("DOWN at the other one of two", worst);
}

// More members than a round probes: suspicion and refutation travel as claims.
TEST(Liveness, AStoppedNodeIsDownEverywhereInALargerClusterToo) {
  Duration worst{};
  for (uint64_t seed = 1; seed <= 8; ++seed) {
    LivenessNetwork network({.nodes = 100, .seed = seed, .gossips = false});
    network.run_for(some_time(seed));
    network.stop(seed);
    const Duration taken =
        network.run_until([&] { return network.all_believe(seed, Health::kDown); }, seconds(30));
    EXPECT_LE(taken, seconds(8)) << "seed " << seed;
    EXPECT_EQ(network.downs(), network.size() - 1) << "seed " << seed;
    worst = std::max(worst, taken);
  }
  report("DOWN everywhere, 100 members", worst);
}

TEST(Liveness, NobodyIsCalledDownForAnHourOfLoss) {
  for (const size_t nodes : {5, 16}) {
    LivenessNetwork network({.nodes = nodes, .seed = 11 + nodes, .loss = 0.05, .gossips = false});
    network.run_for(minutes(60));
    EXPECT_EQ(network.downs(), 0U) << nodes << " members";
    std::cout << "  " << nodes << " members, an hour at 5 % loss: " << network.suspicions() << " suspicions, "
              << network.downs() << " DOWN\n";
  }
}

struct Opinions {
  uint64_t down = 0;
  uint64_t suspect = 0;
};

// Runs for `duration`, and counts in how many ticks anybody thought ill of anybody but node 0.
Opinions run_and_watch(LivenessNetwork& network, Duration duration) {
  Opinions of_healthy;
  for (const Time end = network.now() + duration; network.now() < end;) {
    network.run_for(milliseconds(10));
    for (size_t at = 0; at < network.size(); ++at) {
      for (size_t of = 1; of < network.size(); ++of) {
        if (of == at) continue;
        of_healthy.down += network.health(of, at) == Health::kDown ? 1 : 0;
        of_healthy.suspect += network.health(of, at) == Health::kSuspect ? 1 : 0;
      }
    }
  }
  return of_healthy;
}

// Bug log: one starved node makes healthy ones flap (hashicorp/consul#1212, #916, #1337). Not even a
// suspicion comes of it.
TEST(Liveness, OneFrozenNodeInEightHasNoHealthyNodeCalledDown) {
  for (const double loss : {0.0, 0.01}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      LivenessNetwork network({.nodes = 8, .seed = seed, .loss = loss, .gossips = false});
      network.run_for(some_time(seed));
      for (int cycle = 0; cycle < 150; ++cycle) {
        network.freeze(0);
        const Opinions during = run_and_watch(network, seconds(2));
        network.thaw(0);
        const Opinions after = run_and_watch(network, seconds(2));
        ASSERT_EQ(during.down + after.down, 0U) << "seed " << seed << ", loss " << loss;
        ASSERT_EQ(during.suspect + after.suspect, 0U) << "seed " << seed << ", loss " << loss;
      }
    }
  }
}

// Freezes that don't keep step with the rounds.
TEST(Liveness, FreezesOfAnyLengthHaveNoHealthyNodeCalledDown) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SeededRandom random(seed);
    LivenessNetwork network({.nodes = 8, .seed = seed, .loss = 0.01, .gossips = false});
    network.run_for(some_time(seed));
    for (int cycle = 0; cycle < 300; ++cycle) {
      network.freeze(0);
      const Opinions during = run_and_watch(network, milliseconds(1 + random.below(3000)));
      network.thaw(0);
      const Opinions after = run_and_watch(network, milliseconds(1 + random.below(1000)));
      ASSERT_EQ(during.down + after.down, 0U) << "seed " << seed;
      ASSERT_EQ(during.suspect + after.suspect, 0U) << "seed " << seed;
    }
  }
}

// Bug log: a partial partition, over which membership oscillates (apple/foundationdb#1418,
// corosync/corosync#760). Without loss not even a suspicion.
TEST(Liveness, OnePairThatIsCutIsNoReasonToCallAnybodyDown) {
  for (const double loss : {0.0, 0.01}) {
    for (uint64_t seed = 1; seed <= 21; ++seed) {
      LivenessNetwork network({.nodes = 3 + seed % 6, .seed = seed, .loss = loss, .gossips = false});
      network.run_for(some_time(seed));
      network.cut_pair(0, 1);
      network.run_for(minutes(5));
      EXPECT_EQ(network.downs(), 0U) << "seed " << seed << ", loss " << loss;
      if (loss > 0) continue;
      EXPECT_EQ(network.suspicions(), 0U) << "seed " << seed;
    }
  }
}

TEST(Liveness, ACutInOneDirectionIsNoReasonEither) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    LivenessNetwork network({.nodes = 3 + seed % 6, .seed = seed, .gossips = false});
    network.run_for(some_time(seed));
    network.cut(0, 1);
    network.run_for(minutes(5));
    EXPECT_EQ(network.suspicions(), 0U) << "seed " << seed;
  }
}

// Others keep it from being called DOWN, so only the two themselves can route around the cut.
TEST(Liveness, TwoNodesBetweenWhichOneDirectionIsCutDoNotHearEachOtherAndAllElseDo) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    LivenessNetwork network({.nodes = 3 + seed % 6, .seed = seed, .gossips = false});
    network.run_for(some_time(seed));
    network.cut(0, 1);
    network.run_for(seconds(5));
    for (size_t at = 0; at < network.size(); ++at) {
      for (size_t of = 0; of < network.size(); ++of) {
        if (at == of) continue;
        EXPECT_EQ(network.detector(at).hears(LivenessNetwork::id(of)), at + of != 1)
            << "seed " << seed << ", " << of << " at " << at;
      }
    }
    network.heal();
    network.run_for(seconds(3));
    EXPECT_TRUE(network.detector(0).hears(LivenessNetwork::id(1))) << "seed " << seed;
    EXPECT_TRUE(network.detector(1).hears(LivenessNetwork::id(0))) << "seed " << seed;
  }
}

// It accuses all the others to all the others, and never hears that they refute it. It alone is DOWN for
// them, and all of them for it.
TEST(Liveness, ANodeThatHearsNothingCannotHaveTheOthersCalledDown) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    LivenessNetwork network({.nodes = 3 + seed % 14, .seed = seed, .loss = 0.01, .gossips = false});
    const size_t others = network.size() - 1;
    network.run_for(some_time(seed));
    for (size_t other = 1; other <= others; ++other) network.cut(other, 0);
    network.run_for(minutes(1));
    EXPECT_TRUE(network.all_believe(0, Health::kDown)) << "seed " << seed;
    EXPECT_EQ(network.detector(0).down().size(), others) << "seed " << seed;
    EXPECT_EQ(network.downs(), 2 * others) << "seed " << seed;
  }
}

struct Split {
  uint64_t seed = 1;
  size_t half = 3;
};

// How long two halves that haven't met for ten times the time to DOWN need for one view.
Duration time_to_heal(const Split& split) {
  LivenessNetwork network({.nodes = 2 * split.half, .seed = split.seed});
  network.run_for(some_time(split.seed));
  for (size_t a = 0; a < split.half; ++a) {
    for (size_t b = split.half; b < network.size(); ++b) network.cut_pair(a, b);
  }
  network.run_for(seconds(50));
  EXPECT_EQ(network.downs(), 2 * split.half * split.half) << "seed " << split.seed;
  network.heal();
  const Duration taken = network.run_until([&] { return network.all_alive(); }, seconds(60));
  network.run_for(seconds(30));
  EXPECT_TRUE(network.all_alive()) << "seed " << split.seed;
  EXPECT_EQ(network.downs(), 2 * split.half * split.half) << "seed " << split.seed;
  return taken;
}

// Bug log: after a long split both sides call each other faulty and never talk again (ringpop-node#42,
// ringpop-go#135).
TEST(Liveness, TwoHalvesOfALongSplitFindEachOtherAgain) {
  for (const size_t half : {1, 3}) {
    Duration worst{};
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const Duration taken = time_to_heal({.seed = seed, .half = half});
      EXPECT_LE(taken, seconds(3)) << "seed " << seed;
      worst = std::max(worst, taken);
    }
    report(half == 1 ? "1+1 heals" : "3+3 heals", worst);
  }
}

// Bug log: after more than a year of up-time a restarted node is rejected, its generation being "too far"
// ahead (scylladb/scylladb#5164, CASSANDRA-10969). Some others hear of its new life only by its claims.
TEST(Liveness, ANodeOfAMuchLaterGenerationIsTakenBack) {
  constexpr uint64_t kFarAhead = uint64_t{1} << 60;
  Duration worst{};
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    LivenessNetwork network({.nodes = 3 + seed % 6, .seed = seed});
    network.run_for(some_time(seed));
    network.stop(0);
    network.run_for(seconds(10));
    ASSERT_TRUE(network.all_believe(0, Health::kDown)) << "seed " << seed;

    network.restart(0, kFarAhead + seed, seed % 2 == 0);
    const Duration taken = network.run_until([&] { return network.all_alive(); }, seconds(60));
    EXPECT_LE(taken, seconds(3)) << "seed " << seed;
    network.run_for(seconds(20));
    EXPECT_TRUE(network.all_alive()) << "seed " << seed;
    worst = std::max(worst, taken);
  }
  report("a node of a far later generation is back", worst);
}

// Its directory was replaced by an old copy, and it started while those that remember were out of reach.
TEST(Liveness, ANodeOfAnEarlierGenerationOutbidsWhatIsRemembered) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    LivenessNetwork network({.nodes = 5, .seed = seed});
    network.restart(0, 1000, true);
    network.run_for(some_time(seed));
    network.stop(0);
    network.run_for(seconds(10));
    network.restart(0, 2, true);
    EXPECT_LE(network.run_until([&] { return network.all_alive(); }, seconds(60)), seconds(5))
        << "seed " << seed;
    network.run_for(seconds(20));
    EXPECT_TRUE(network.all_alive()) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ringkv
