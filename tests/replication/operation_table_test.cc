#include "replication/operation_table.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr OperationId kFirst{7, 1};
constexpr OperationId kSecond{7, 2};
constexpr OperationId kThird{7, 3};
constexpr Time kStart{};
constexpr Time kDeadline = kStart + std::chrono::seconds(5);

OperationTable::Entry entry(uint64_t request) { return {.request = request, .token = 5, .synced = true}; }

TEST(OperationTable, KnowsWhatIsUnderWayAndWhatWasDecided) {
  OperationTable table;
  EXPECT_EQ(table.find(kFirst), nullptr);
  table.begin(kFirst, entry(11), kDeadline);
  ASSERT_NE(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(kFirst)->request, 11U);
  EXPECT_EQ(table.find(kFirst)->outcome, OperationTable::Outcome::kUnderWay);
  EXPECT_TRUE(table.find(kFirst)->synced);

  table.decide(kFirst, OperationTable::Outcome::kApplied, 0, "context");
  EXPECT_EQ(table.find(kFirst)->outcome, OperationTable::Outcome::kApplied);
  EXPECT_EQ(table.find(kFirst)->seen, "context");
}

// What is no longer in the table must not be taken for what never came.
TEST(OperationTable, ForgetsAMinuteAfterTheDeadlineAndSaysSo) {
  OperationTable table;
  table.begin(kSecond, entry(11), kDeadline);
  table.tick(kDeadline + std::chrono::seconds(59));
  EXPECT_NE(table.find(kSecond), nullptr);
  EXPECT_FALSE(table.may_have_forgotten(kSecond));
  table.tick(kDeadline + std::chrono::seconds(60));
  EXPECT_EQ(table.find(kSecond), nullptr);
  EXPECT_TRUE(table.may_have_forgotten(kSecond));
  EXPECT_TRUE(table.may_have_forgotten(kFirst));
  EXPECT_FALSE(table.may_have_forgotten(kThird));
}

TEST(OperationTable, DropsTheSoonestToGoWhenItIsFull) {
  OperationTable table(2);
  table.begin(kFirst, entry(1), kDeadline + std::chrono::hours(24));
  table.begin(kSecond, entry(2), kDeadline);
  table.begin(kThird, entry(3), kDeadline);
  EXPECT_NE(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(kSecond), nullptr);
  EXPECT_TRUE(table.may_have_forgotten(kSecond));
  EXPECT_LE(table.size(), 2U);
}

TEST(OperationTable, OneLongDeadlineHoldsNobodyUp) {
  OperationTable table;
  table.begin(kFirst, entry(1), kDeadline + std::chrono::hours(24));
  table.begin(kSecond, entry(2), kDeadline);
  table.tick(kDeadline + std::chrono::seconds(60));
  EXPECT_EQ(table.size(), 1U);
}

TEST(OperationTable, AForgottenTrysExpiryLeavesTheNextTryAlone) {
  OperationTable table;
  table.begin(kFirst, entry(1), kDeadline);
  table.forget(kFirst);
  table.begin(kFirst, entry(2), kDeadline + std::chrono::seconds(30));
  table.tick(kDeadline + std::chrono::seconds(60));
  ASSERT_NE(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(kFirst)->request, 2U);
}

TEST(OperationTable, RemembersWhoAcknowledgedUntilTheListsChange) {
  const std::vector<NodeId> owners = {NodeId{7}, NodeId{8}, NodeId{9}};
  OperationTable table;
  table.begin({1, 1}, {.request = 1}, Time());
  table.decide({1, 1}, OperationTable::Outcome::kApplied, bits_of(owners, {NodeId{9}, NodeId{7}}), "");
  EXPECT_EQ(chosen_by(table.find({1, 1})->acknowledged, owners), (std::vector<NodeId>{NodeId{7}, NodeId{9}}));
  table.forget_who_acknowledged();
  EXPECT_TRUE(chosen_by(table.find({1, 1})->acknowledged, owners).empty());
}

}  // namespace
}  // namespace ringkv
