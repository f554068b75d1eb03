#include "node/plan_sizes.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(PlanSizes, SumUpBetweenTwoMembersWhoeverCounted) {
  PlanOutline outline;
  outline.report.warnings = {"kept"};
  outline.report.bytes_per_second = 10'000'000;
  outline.shares = {
      {"n1", "n4", "n1", {0, 1}}, {"n1", "n4", "n2", {2}}, {"n1", "n4", "", {3}}, {"n3", "n5", "n2", {1}}};
  EXPECT_EQ(members_to_count(outline), (std::set<std::string>{"n1", "n2"}));
  PlanSizes sizes;
  sizes.add("n1", {{0, 10, 1000}, {2, 99, 99}});
  sizes.add("n2", {{2, 5, 500}, {1, 10'000, 14'880'000}});
  const PlanReport report = sizes.counted(outline);
  ASSERT_EQ(report.moves.size(), 2U);
  EXPECT_EQ(report.moves[0].to, "n4");
  EXPECT_EQ(report.moves[0].partitions, 4U);
  EXPECT_EQ(report.moves[0].keys, 15U);
  EXPECT_EQ(report.moves[0].bytes, 1500U);
  EXPECT_EQ(report.moves[1].from, "n3");
  EXPECT_DOUBLE_EQ(report.seconds, 2) << "n5 takes longest: each record costs 512 bytes more";
  EXPECT_EQ(report.warnings, (std::vector<std::string>{"kept"}));
}

}  // namespace
}  // namespace ringkv
