// Random histories of agreement: 1 to 7 voters, later up to 9; messages lost, repeated and reordered; crashes
// between a promise and its acceptance; wiped, copied and restored directories; several proposers for one
// epoch, and many epochs in a row.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/gossip/agreement_world.h"

namespace ringkv {
namespace {

uint64_t seeds() {
  const char* wanted = std::getenv("RINGKV_LONG");
  return wanted != nullptr && *wanted != '\0' ? 200'000 : 20'000;
}

TEST(AgreementExploration, NeverTwoRingsOfOneEpochAndAMajorityAlwaysGetsOn) {
  AgreementCoverage coverage;
  for (uint64_t seed = 1; seed <= seeds(); ++seed) {
    AgreementWorld world(seed, coverage);
    ASSERT_EQ(world.explore(200 + 200 * (seed % 10)), "") << "seed " << seed;
  }

  // Nothing was found although all of it happened, and not because nothing did.
  EXPECT_GT(coverage.chosen, 2 * seeds());
  EXPECT_GT(coverage.got_on, seeds() * 9 / 10);
  EXPECT_GT(coverage.another_chosen, seeds() / 2);
  EXPECT_GT(coverage.overtaken, seeds() / 2);
  EXPECT_GT(coverage.timed_out, seeds() / 2);
  EXPECT_GT(coverage.votes_forgotten, seeds() / 2);
  EXPECT_GT(coverage.asked_wiped, seeds() / 2);
  EXPECT_GT(coverage.seats_given_anew, seeds() / 100);
  EXPECT_GT(coverage.votes_of_replaced, seeds() / 2);
  EXPECT_GT(coverage.ballots_of_replaced, seeds() / 2);
  EXPECT_GT(coverage.restored, seeds() / 20);
  EXPECT_GT(coverage.asked_restored, seeds() / 10);
  EXPECT_GT(coverage.voted_again, seeds() / 100);
  EXPECT_GT(coverage.joined, seeds() / 10);
  EXPECT_GT(coverage.longest, 20U);
}

}  // namespace
}  // namespace ringkv
