#include "node/views.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

RingDescription ring_of_one() {
  RingDescription ring;
  ring.replicas = 3;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n1", .rack = "a"}};
  ring.owners.assign(16, 0);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

TEST(Views, TheRingShowsItsOwnersOnlyWhenAsked) {
  const Ring ring(ring_of_one());
  EXPECT_TRUE(ring_info(ring, false).owners.empty());
  EXPECT_EQ(ring_info(ring, true).owners, std::vector<std::string>(16, "n1"));
  EXPECT_EQ(ring_info(ring, false).digest.size(), 40U);
}

}  // namespace
}  // namespace ringkv
