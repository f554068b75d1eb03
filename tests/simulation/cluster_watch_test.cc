#include "tools/simulation/cluster_watch.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

RingDescription description(uint64_t epoch) {
  RingDescription ring;
  ring.epoch = epoch;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n1", .rack = "a"},
                  {.node = NodeId{2}, .disk = DiskId{2}, .name = "n2", .rack = "b"}};
  ring.owners = {0, 1, 0, 1};
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

class Watch : public testing::Test {
 protected:
  void look(const std::string& machine, uint64_t node, uint64_t boot, const Ring& ring,
            uint64_t generation = 1, uint64_t epoch_told = 1) {
    watch.look({machine, NodeId{node}, Boot{boot}, generation, epoch_told, &ring});
  }
  std::string verdict() const { return watch.violation() ? watch.violation()->invariant : ""; }

  const Ring first{description(1)};
  const Ring second{description(2)};
  ClusterWatch watch;
};

TEST_F(Watch, IsContentWithNodesOfOneRingAndWithRestarts) {
  look("n1", 1, 11, first);
  look("n2", 2, 12, first);
  look("n2", 2, 12, second);
  watch.gone("n1");
  look("n1", 1, 13, second, 2);
  EXPECT_EQ(verdict(), "");
  EXPECT_EQ(watch.boots(), 3U);
  EXPECT_EQ(watch.rings(), 2U);
}

TEST_F(Watch, FindsTwoRingsOfOneEpoch) {
  RingDescription other = description(2);
  other.buckets.front().ttl_ms = 1;
  look("n1", 1, 11, second);
  look("n2", 2, 12, Ring(other));
  EXPECT_EQ(verdict(), "I7");
}

TEST_F(Watch, FindsANodeThatGoesBackToAnEarlierRing) {
  look("n1", 1, 11, second);
  look("n1", 1, 11, first);
  EXPECT_EQ(verdict(), "I7");
}

TEST_F(Watch, LetsARestartGoBackOnlyToWhatWasToldToBeOnDisk) {
  look("n1", 1, 11, second);
  look("n1", 1, 12, first, 2);
  EXPECT_EQ(verdict(), "");
  look("n2", 2, 13, second, 1, 2);
  look("n2", 2, 14, first, 2);
  EXPECT_EQ(verdict(), "I7");
}

TEST_F(Watch, LetsANodeGoBackWithAnOlderDisk) {
  look("n1", 1, 11, second, 3, 2);
  watch.forget("n1", NodeId{1});
  look("n1", 1, 12, first, 2, 1);
  EXPECT_EQ(verdict(), "");
  look("n1", 1, 13, first, 1, 1);
  EXPECT_EQ(verdict(), "I10");
}

TEST_F(Watch, FindsTwoProcessesThatServeAsOneNode) {
  look("n1", 1, 11, first);
  look("copy of n1", 1, 12, first);
  EXPECT_EQ(verdict(), "I10");
}

TEST_F(Watch, FindsABootThatIsDrawnTwice) {
  look("n1", 1, 11, first);
  look("n2", 2, 11, first);
  EXPECT_EQ(verdict(), "I4");
}

TEST_F(Watch, FindsAGenerationThatGoesBack) {
  look("n1", 1, 11, first, 5);
  watch.gone("n1");
  look("n1", 1, 12, first, 4);
  EXPECT_EQ(verdict(), "I10");
}

// (A Ring makes its lists itself, so that none breaks I8 here.)
TEST_F(Watch, IsContentWithCopiesSpreadOverNodesAndRacks) {
  RingDescription spread = description(1);
  spread.members.push_back({.node = NodeId{3}, .disk = DiskId{3}, .name = "n3", .rack = "a"});
  spread.owners = {0, 1, 2, 1};
  spread.replicas = 2;
  const Ring ring(spread);
  look("n1", 1, 11, ring);
  EXPECT_EQ(verdict(), "");
}

}  // namespace
}  // namespace ringkv::simulation
