#include "tools/kvctl/joined.h"

#include <gtest/gtest.h>

namespace ringkv::tools {
namespace {

// Members n1, n2, … that are up and at these epochs; 0: not known.
ClusterStatus status_with(const std::vector<uint64_t>& epochs, uint64_t epoch) {
  ClusterStatus status;
  status.epoch = epoch;
  for (const uint64_t member_epoch : epochs) {
    MemberInfo member;
    member.name = "n" + std::to_string(status.members.size() + 1);
    member.status = "normal";
    member.state = "up";
    if (member_epoch > 0) member.epoch = member_epoch;
    status.members.push_back(member);
  }
  return status;
}

TEST(Joined, IsTrueWhenAMajorityHasTheRingAndNothingChanges) {
  EXPECT_EQ(missing_for_joined(status_with({3}, 3)), std::nullopt);
  EXPECT_EQ(missing_for_joined(status_with({3, 3}, 3)), std::nullopt);
  EXPECT_EQ(missing_for_joined(status_with({3, 3, 0}, 3)), std::nullopt);
  EXPECT_EQ(missing_for_joined(status_with({5, 5, 5, 4, 1}, 5)), std::nullopt);
}

TEST(Joined, NamesTheMembersThatDoNotHaveTheRingYet) {
  EXPECT_EQ(missing_for_joined(status_with({5, 4, 0, 5, 4}, 5)),
            "epoch 5 is known to only 2 of 5 members; missing: n2, n3, n5");
  EXPECT_NE(missing_for_joined(status_with({3, 2}, 3)), std::nullopt) << "one of two is no majority";
}

TEST(Joined, NamesWhoIsJoiningOrLeaving) {
  ClusterStatus joining = status_with({3, 3, 3}, 3);
  joining.members[2].state = "joining";
  EXPECT_EQ(missing_for_joined(joining), "n3 is joining");

  // Down, and leaving all the same.
  ClusterStatus leaving = status_with({3, 3, 3}, 3);
  leaving.members[1].state = "down";
  leaving.members[1].status = "leaving";
  EXPECT_EQ(missing_for_joined(leaving), "n2 is leaving, and can't be reached");
}

TEST(Joined, SaysWhatIsWaitedFor) {
  ClusterStatus status = status_with({3, 3, 3}, 3);
  MemberInfo& member = status.members[2];
  member.state = "joining";
  member.takeover_partitions = 12;
  EXPECT_EQ(missing_for_joined(status), "n3 is joining, and has taken over 0 of 12 partitions");

  member.state = "up";
  status.change_under_way = true;
  member.takeover_ready = 5;
  EXPECT_EQ(missing_for_joined(status),
            "a change of the ring is under way in epoch 3; n3 has taken over 5 of 12 partitions");
  member.takeover_ready = 12;
  EXPECT_EQ(missing_for_joined(status), "a change of the ring is under way in epoch 3");

  member.state = "leaving";
  EXPECT_EQ(missing_for_joined(status), "n3 is leaving");
  member.hints = 1;
  member.handover_partitions = 2;
  EXPECT_EQ(missing_for_joined(status),
            "n3 is leaving: others have yet to take 1 hint and copies of 2 partitions from it");
}

TEST(Joined, IsNotWhileAChangeIsUnderWay) {
  ClusterStatus status = status_with({3, 3, 3}, 3);
  status.change_under_way = true;
  EXPECT_NE(missing_for_joined(status)->find("under way"), std::string::npos);
}

TEST(Joined, IsNotWhereTheNodeAskedIsBehind) {
  EXPECT_EQ(missing_for_joined(status_with({3, 4, 3}, 3)), "the node asked is at epoch 3, n2 at epoch 4");
}

}  // namespace
}  // namespace ringkv::tools
