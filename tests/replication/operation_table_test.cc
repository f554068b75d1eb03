#include "replication/operation_table.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

constexpr OperationId kFirst{7, 1};
constexpr OperationId kSecond{7, 2};
constexpr OperationId kThird{7, 3};
constexpr Time kStart{};
constexpr Time kDeadline = kStart + std::chrono::seconds(5);

TEST(OperationTable, KnowsWhatIsUnderWayAndWhatWasDecided) {
  OperationTable table;
  EXPECT_EQ(table.find(kFirst), nullptr);
  table.begin(kFirst, 11, true, kDeadline);
  ASSERT_NE(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(kFirst)->request, 11U);
  EXPECT_EQ(table.find(kFirst)->outcome, OperationTable::Outcome::kUnderWay);
  EXPECT_TRUE(table.find(kFirst)->synced);

  table.decide(kFirst, OperationTable::Outcome::kApplied);
  EXPECT_EQ(table.find(kFirst)->outcome, OperationTable::Outcome::kApplied);
}

TEST(OperationTable, ForgetsAMinuteAfterTheDeadline) {
  OperationTable table;
  table.begin(kFirst, 11, true, kDeadline);
  table.tick(kDeadline + std::chrono::seconds(59));
  EXPECT_NE(table.find(kFirst), nullptr);
  table.tick(kDeadline + std::chrono::seconds(60));
  EXPECT_EQ(table.find(kFirst), nullptr);
  EXPECT_FALSE(table.may_have_forgotten(kDeadline + std::chrono::seconds(60)));
}

// A table that drops an entry early must say so: its absence no longer proves that the operation never came.
TEST(OperationTable, SaysThatItMayHaveForgottenWhenItWasFull) {
  OperationTable table(2);
  table.begin(kFirst, 1, true, kDeadline);
  table.begin(kSecond, 2, true, kDeadline);
  EXPECT_FALSE(table.may_have_forgotten(kStart));
  table.begin(kThird, 3, true, kDeadline);
  EXPECT_EQ(table.find(kFirst), nullptr);
  EXPECT_NE(table.find(kSecond), nullptr);
  EXPECT_LE(table.size(), 2U);
  EXPECT_TRUE(table.may_have_forgotten(kDeadline));
  EXPECT_FALSE(table.may_have_forgotten(kDeadline + OperationTable::kKeptAfterDeadline));
}

TEST(OperationTable, AForgottenTrysExpiryLeavesTheNextTryAlone) {
  OperationTable table;
  table.begin(kFirst, 1, true, kDeadline);
  table.forget(kFirst);
  table.begin(kFirst, 2, true, kDeadline + std::chrono::seconds(30));
  table.tick(kDeadline + std::chrono::seconds(60));
  ASSERT_NE(table.find(kFirst), nullptr);
  EXPECT_EQ(table.find(kFirst)->request, 2U);
}

}  // namespace
}  // namespace ringkv
