#include "gossip/epoch_register.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr NodeId kSelf{1};

TEST(EpochRegister, ADescriptionIsChosenBehindItsRecordAndNotBefore) {
  EpochRegister epochs(kSelf, 4);
  Outbox<RingChosen> outbox;
  ASSERT_TRUE(epochs.propose("ring of 5", "ring", outbox).ok());

  ASSERT_EQ(outbox.meta_records().size(), 1U);
  EXPECT_EQ(outbox.meta_records()[0].value, "ring of 5");
  ASSERT_EQ(outbox.envelopes().size(), 1U);
  EXPECT_TRUE(outbox.envelopes()[0].after_records);
  EXPECT_EQ(epochs.epoch(), 4U);

  epochs.on(outbox.envelopes()[0].message);
  EXPECT_EQ(epochs.epoch(), 5U);
}

TEST(EpochRegister, OneEpochIsDecidedAtATime) {
  EpochRegister epochs(kSelf, 1);
  Outbox<RingChosen> outbox;
  ASSERT_TRUE(epochs.propose("a", "ring", outbox).ok());
  const RingChosen chosen = outbox.envelopes()[0].message;
  outbox.clear();
  EXPECT_EQ(epochs.propose("b", "ring", outbox).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(outbox.empty());

  epochs.on(chosen);
  ASSERT_TRUE(epochs.propose("b", "ring", outbox).ok());
  EXPECT_EQ(outbox.envelopes()[0].message.epoch, 3U);
}

}  // namespace
}  // namespace ringkv
