#include "node/write_order.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

const KeyIdentity kA = identity_of("", "a");
const KeyIdentity kB = identity_of("", "b");

TEST(WriteOrder, OneWriteOfAKeyIsUnderWayAndTheOthersFollowInOrder) {
  WriteOrder order;
  EXPECT_TRUE(order.enter(kA, 1));
  EXPECT_FALSE(order.enter(kA, 2));
  EXPECT_FALSE(order.enter(kA, 3));
  EXPECT_EQ(order.leave(kA), 2U);
  EXPECT_EQ(order.leave(kA), 3U);
  EXPECT_EQ(order.leave(kA), 0U);
  EXPECT_EQ(order.keys(), 0U);
  EXPECT_TRUE(order.enter(kA, 4));
}

TEST(WriteOrder, KeysDontWaitForEachOther) {
  WriteOrder order;
  EXPECT_TRUE(order.enter(kA, 1));
  EXPECT_TRUE(order.enter(kB, 2));
}

TEST(WriteOrder, OneThatGaveUpIsLeftOut) {
  WriteOrder order;
  EXPECT_TRUE(order.enter(kA, 1));
  EXPECT_FALSE(order.enter(kA, 2));
  EXPECT_FALSE(order.enter(kA, 3));
  order.give_up(kA, 2);
  EXPECT_EQ(order.leave(kA), 3U);
}

}  // namespace
}  // namespace ringkv
