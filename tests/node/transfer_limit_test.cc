#include "node/transfer_limit.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

PeerState saying(const TransferLimit& limit) {
  PeerState state;
  state.transfer_limit = limit.bytes_per_second();
  state.transfer_limit_set_at = limit.set_at();
  return state;
}

TEST(TransferLimit, TheLastOneSetHoldsEverywhere) {
  TransferLimit one, other;
  EXPECT_EQ(one.bytes_per_second(), 0U);
  one.set(100, 1000);
  other.hear(saying(one));
  EXPECT_EQ(other.bytes_per_second(), 100U);
  other.set(0, 2000);
  one.hear(saying(other));
  EXPECT_EQ(one.bytes_per_second(), 0U) << "none is a setting too";
  other.hear(saying(TransferLimit()));
  EXPECT_EQ(other.set_at(), 2000U) << "who has never heard of one says nothing";
}

TEST(TransferLimit, IsSetWhoeversClockIsBehind) {
  TransferLimit ahead, behind;
  ahead.set(100, 9000);
  behind.hear(saying(ahead));
  behind.set(7, 50);
  ahead.hear(saying(behind));
  EXPECT_EQ(ahead.bytes_per_second(), 7U);
}

TEST(TransferLimit, TwoSetAtOneMomentBecomeTheSameOne) {
  TransferLimit one, other;
  one.set(100, 1000);
  other.set(200, 1000);
  const PeerState first = saying(one);
  one.hear(saying(other));
  other.hear(first);
  EXPECT_EQ(one.bytes_per_second(), other.bytes_per_second());
}

}  // namespace
}  // namespace ringkv
