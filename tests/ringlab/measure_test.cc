#include "tools/ringlab/measure.h"

#include <gtest/gtest.h>

#include <cmath>

namespace ringkv::ringlab {
namespace {

TEST(Load, OfAnEmptyNodeHasAnInfiniteRatio) {
  const Load load = load_of({0, 0, 2}, numbered_nodes("s", 3));
  EXPECT_EQ(load.keys, (std::vector<uint64_t>{2, 0, 1}));
  EXPECT_EQ(load.fewest, 0U);
  EXPECT_TRUE(std::isinf(load.max_over_min));
  EXPECT_DOUBLE_EQ(load.max_over_mean, 2);
}

TEST(Load, IsComparedByWeight) {
  std::vector<LabNode> nodes = numbered_nodes("s", 2);
  nodes[1].weight = 3;
  const Load load = load_of({0, 1, 1, 1}, nodes);
  EXPECT_DOUBLE_EQ(load.max_over_mean, 1);
  EXPECT_DOUBLE_EQ(load.max_over_min, 1);
  EXPECT_DOUBLE_EQ(load.deviation_over_mean, 0);
}

TEST(Load, FindsNodesByNumberWhateverIsMissing) {
  std::vector<LabNode> nodes = numbered_nodes("s", 3);
  nodes.erase(nodes.begin());
  EXPECT_EQ(load_of({1, 2, 2}, nodes).keys, (std::vector<uint64_t>{1, 2}));
}

TEST(Movement, IsNeedlessBetweenNodesThatStay) {
  const Movement joined = movement({0, 1, 1, 0}, {0, 2, 0, 1}, {.newcomer = 2});
  EXPECT_EQ(joined.moved, 3U);
  EXPECT_EQ(joined.needless, 2U);

  const Movement left = movement({0, 1, 1, 2}, {0, 0, 2, 0}, {.leaver = 1});
  EXPECT_EQ(left.moved, 3U);
  EXPECT_EQ(left.needless, 1U);
}

}  // namespace
}  // namespace ringkv::ringlab
