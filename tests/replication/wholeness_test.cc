#include "replication/wholeness.h"

#include <gtest/gtest.h>

#include "tests/replication/round_fixture.h"

namespace ringkv {
namespace {

constexpr NodeId kSecond{2};
constexpr NodeId kThird{3};

Ring ring_of(size_t nodes, uint32_t write_quorum = 0) {
  RingDescription description = RoundFixture::description(nodes);
  for (BucketDescription& bucket : description.buckets) bucket.write_quorum = write_quorum;
  return Ring(std::move(description));
}

// N = 3, W = 2: what two have acknowledged, one of the two others has.
TEST(Wholeness, ComesWithARoundFromSoManyThatOneOfThemHasEveryWrite) {
  const Ring ring = ring_of(3);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose_all();
  EXPECT_FALSE(wholeness.is_whole(5));

  EXPECT_FALSE(wholeness.on_round({5, 6}, kSecond, ring));
  EXPECT_FALSE(wholeness.on_round({5}, kSecond, ring));
  EXPECT_FALSE(wholeness.is_whole(5));
  EXPECT_TRUE(wholeness.on_round({5}, kThird, ring));

  EXPECT_TRUE(wholeness.is_whole(5));
  EXPECT_FALSE(wholeness.is_whole(6));
  EXPECT_EQ(wholeness.incomplete(), kTestPartitions - 1);
}

TEST(Wholeness, NeedsFewerRoundsWhereMoreAcknowledgeEachWrite) {
  const Ring ring = ring_of(3, 3);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  EXPECT_TRUE(wholeness.on_round({5}, kSecond, ring));
}

// With W = 1 the lost disk may have been the only one: that is for people to accept.
TEST(Wholeness, DoesNotComeByItselfWhereOneAcknowledgementWasEnough) {
  const Ring ring = ring_of(3, 1);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  wholeness.on_round({5}, kSecond, ring);
  wholeness.on_round({5}, kThird, ring);
  EXPECT_FALSE(wholeness.is_whole(5));
  EXPECT_EQ(wholeness.accept_loss(), std::vector<Partition>{5});
  EXPECT_TRUE(wholeness.is_whole(5));
}

// N = 3, W = 2: of n1's two others n3 was declared lost, and is waited for no more.
TEST(Wholeness, NeedsNoMoreThanThoseThatSurvive) {
  RingDescription description = RoundFixture::description(3);
  description.members[2].lost = true;
  description.members[2].voter = false;
  const Ring ring(description);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  EXPECT_TRUE(wholeness.on_round({5}, kSecond, ring));

  // Nobody else is left: what it has is all there is, and that is for people to accept.
  description.members[1].lost = true;
  description.members[1].voter = false;
  const Ring alone(description);
  wholeness.lose(5);
  EXPECT_FALSE(wholeness.is_whole(5));
  EXPECT_EQ(wholeness.accept_loss(), std::vector<Partition>{5});
}

TEST(Wholeness, RoundsOfAnotherLifeDoNotCount) {
  const Ring ring = ring_of(3);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  wholeness.on_round({5}, kSecond, ring);
  wholeness.forget_rounds_from(kSecond);
  EXPECT_FALSE(wholeness.on_round({5}, kThird, ring));
}

TEST(Wholeness, LosingAgainForgetsTheRoundsBefore) {
  const Ring ring = ring_of(3);
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  wholeness.on_round({5}, kSecond, ring);
  wholeness.lose(5);
  EXPECT_FALSE(wholeness.on_round({5}, kThird, ring));
}

// While the ring changes other nodes hold copies too.
TEST(Wholeness, RoundsCountOnlyFromThoseThatGetsAsk) {
  RingDescription description = RoundFixture::description(4, 3);
  description.change = {.members = description.members, .owners = description.owners, .replicas = 3};
  for (uint16_t& owner : description.change->owners) owner = static_cast<uint16_t>((owner + 1) % 4);
  const Ring ring(description);  // partition 4: of n1, n2 and n3; then of n2, n3 and n4
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(4);
  EXPECT_FALSE(wholeness.on_round({4}, NodeId{4}, ring));
  EXPECT_FALSE(wholeness.on_round({4}, kSecond, ring));
  EXPECT_TRUE(wholeness.on_round({4}, kThird, ring));
}

TEST(Wholeness, CanBeSaid) {
  Wholeness wholeness(kTestPartitions);
  wholeness.lose(5);
  wholeness.take_record();
  wholeness.make_whole(5);
  EXPECT_TRUE(wholeness.is_whole(5));
  EXPECT_TRUE(wholeness.take_record().has_value());
  wholeness.make_whole(5);
  EXPECT_FALSE(wholeness.take_record().has_value());
}

TEST(Wholeness, IsKeptOnDisk) {
  Wholeness wholeness(kTestPartitions);
  EXPECT_FALSE(wholeness.take_record().has_value());
  wholeness.lose(3);
  wholeness.lose(15);
  const std::optional<MetaRecord> record = wholeness.take_record();
  ASSERT_TRUE(record.has_value());
  EXPECT_FALSE(wholeness.take_record().has_value());

  Wholeness loaded(kTestPartitions);
  ASSERT_TRUE(loaded.load(record->value).ok());
  EXPECT_EQ(loaded.incomplete_partitions(), (std::vector<Partition>{3, 15}));
  EXPECT_EQ(loaded.incomplete(), 2U);
}

TEST(Wholeness, RefusesADamagedRecord) {
  Wholeness wholeness(kTestPartitions);
  EXPECT_TRUE(wholeness.load("").ok());
  EXPECT_EQ(wholeness.load(std::string(3, '\7')).code(), StatusCode::kCorruption);
  EXPECT_EQ(wholeness.load(std::string("\1\0", 2)).code(), StatusCode::kCorruption);
}

}  // namespace
}  // namespace ringkv
