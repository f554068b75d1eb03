// I1, I2, I3, I4, I5, I6, I13 and L2 over random histories of small clusters.
#include "tests/replication/quorum_exploration.h"

#include <iostream>

namespace ringkv {
namespace {

void explore(size_t nodes, bool deletes, uint64_t seeds, int steps) {
  QuorumExploration::Counts all;
  for (uint64_t seed = getenv("SEED") ? atoi(getenv("SEED")) : 1;
       seed <= (getenv("SEEDS") ? static_cast<uint64_t>(atoll(getenv("SEEDS"))) : seeds); ++seed) {
    SCOPED_TRACE(seed);
    QuorumExploration exploration({.seed = seed, .nodes = nodes, .deletes = deletes});
    exploration.run(steps);
    if (testing::Test::HasFailure()) return;
    const QuorumExploration::Counts& counts = exploration.counts();
    all.acknowledged += counts.acknowledged;
    all.unknown += counts.unknown;
    all.failed += counts.failed;
    all.confirmed_gets += counts.confirmed_gets;
    all.unconfirmed_gets += counts.unconfirmed_gets;
    all.failed_gets += counts.failed_gets;
    all.retried += counts.retried;
    all.siblings_read += counts.siblings_read;
    all.hinted += counts.hinted;
    all.hints_delivered += counts.hints_delivered;
    all.hints_cancelled += counts.hints_cancelled;
    all.hints_refused += counts.hints_refused;
    all.floors_raised += counts.floors_raised;
    all.erased += counts.erased;
    all.not_found += counts.not_found;
  }
  std::cout << nodes << " nodes, " << seeds << " histories: puts " << all.acknowledged << " ok, "
            << all.unknown << " unknown, " << all.failed << " failed, " << all.retried << " retries; gets "
            << all.confirmed_gets << " confirmed, " << all.unconfirmed_gets << " unconfirmed, "
            << all.failed_gets << " failed, " << all.siblings_read << " with siblings; " << all.hinted
            << " puts acknowledged by hints, " << all.hints_delivered << " delivered, " << all.hints_cancelled
            << " cancelled, " << all.hints_refused << " refused; floors raised " << all.floors_raised
            << " times, " << all.erased << " erasures, " << all.not_found << " gets of deleted keys\n";
  for (const size_t times :
       {all.acknowledged, all.unknown, all.failed, all.confirmed_gets, all.unconfirmed_gets, all.failed_gets,
        all.retried, all.siblings_read, all.hints_delivered, all.hints_cancelled, all.hints_refused}) {
    EXPECT_GT(times, seeds / 10) << "a rule that is hardly tried";
  }
  // With three nodes nobody outside the list can acknowledge.
  EXPECT_EQ(all.hinted > seeds / 10, nodes > 3);
  EXPECT_EQ(all.floors_raised > seeds, deletes);
  EXPECT_EQ(all.erased > seeds, deletes);
}

TEST(QuorumExploration, OfThreeNodesBreaksNoInvariant) { explore(3, false, 400, 600); }

TEST(QuorumExploration, OfFiveNodesBreaksNoInvariant) { explore(5, false, 400, 600); }

TEST(QuorumExploration, OfDeletesOnThreeNodesBreaksNoInvariant) { explore(3, true, 800, 500); }

TEST(QuorumExploration, OfDeletesOnFiveNodesBreaksNoInvariant) { explore(5, true, 400, 600); }

}  // namespace
}  // namespace ringkv
