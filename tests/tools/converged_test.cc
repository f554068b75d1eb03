#include "tools/kvctl/converged.h"

#include <gtest/gtest.h>

namespace ringkv::tools {
namespace {

ClusterStatus status_of(const std::vector<std::string>& states) {
  ClusterStatus status;
  status.epoch = 7;
  for (const std::string& state : states) {
    MemberInfo& member = status.members.emplace_back();
    member.name = "n" + std::to_string(status.members.size());
    member.status = "normal";
    member.state = state;
    member.epoch = 7;
  }
  return status;
}

TEST(Converged, NeedsEveryMemberUp) {
  EXPECT_EQ(missing_for_comparison(status_of({"up", "up", "up"})), std::nullopt);
  EXPECT_EQ(missing_for_comparison(status_of({"up", "up", "down"})), "n3 is down");
  EXPECT_EQ(missing_for_comparison(status_of({"down", "up", "joining"})), "n1 is down; n3 is joining");
}

TEST(Converged, NeedsARingThatDoesNotChangeAndThatAllHave) {
  ClusterStatus status = status_of({"up", "up", "up"});
  status.members[1].status = "leaving";
  EXPECT_EQ(missing_for_comparison(status), "n2 is leaving");

  status = status_of({"up", "up", "up"});
  status.change_under_way = true;
  EXPECT_NE(missing_for_comparison(status)->find("under way"), std::string::npos);

  status = status_of({"up", "up", "up"});
  status.members[2].epoch = 6;
  EXPECT_EQ(missing_for_comparison(status), "n3 has yet to take epoch 7");
  status.members[2].epoch = std::nullopt;
  EXPECT_EQ(missing_for_comparison(status), "n3 has yet to take epoch 7");
}

TEST(HintsDrained, NamesWhereHintsAre) {
  Asked<std::vector<HintInfo>> asked;
  asked.answers = {{"n1", {{"n3", "n1", 412, 9000}, {"n4", "n1", 0, 0}}}, {"n2", {}}};
  EXPECT_EQ(missing_for_hints_drained(asked), "412 hints for n3 on n1");

  asked.answers[0].report[0].hints = 0;
  EXPECT_EQ(missing_for_hints_drained(asked), std::nullopt);
}

// Nobody knows what it keeps.
TEST(HintsDrained, AreNotWhileAMemberWasNotAsked) {
  Asked<std::vector<HintInfo>> asked;
  asked.answers = {{"n1", {}}};
  asked.unanswered = {{"n3", unavailable("n3 can't be reached")}, {"n4", unavailable("timed out")}};
  EXPECT_EQ(missing_for_hints_drained(asked), "n3 can't be reached; n4: timed out");
}

TEST(Equality, NamesTheMembersThatLackedSomething) {
  Asked<RepairReport> asked;
  asked.answers = {{"n1", {}}, {"n2", {}}};
  EXPECT_EQ(missing_for_equality(asked), std::nullopt);

  asked.answers[1].report.differences = 37;
  EXPECT_EQ(missing_for_equality(asked), "37 keys differed on n2");
}

TEST(Equality, IsNotKnownWhereNotAllWereCompared) {
  Asked<RepairReport> asked;
  asked.answers = {{"n1", {}}};
  asked.answers[0].report.partial = true;
  EXPECT_NE(missing_for_equality(asked)->find("n1"), std::string::npos);
  asked.answers[0].report.problems = {"n2 can't be reached"};
  EXPECT_EQ(missing_for_equality(asked), "n1: n2 can't be reached");

  asked.answers[0].report = {};
  asked.unanswered = {{"n2", unavailable("timed out")}};
  EXPECT_EQ(missing_for_equality(asked), "n2: timed out");
}

TEST(Equality, StaysOneLineHoweverMuchIsMissing) {
  Asked<RepairReport> asked;
  for (int i = 1; i <= 9; ++i) asked.unanswered.push_back({"n" + std::to_string(i), unavailable("gone")});
  EXPECT_EQ(missing_for_equality(asked),
            "n1: gone; n2: gone; n3: gone; n4: gone; n5: gone; n6: gone; and 3 more");
}

}  // namespace
}  // namespace ringkv::tools
