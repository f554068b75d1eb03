#include "tools/simulation/core_checker.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

// Five members with three copies; n1, n2 and n3 are the core, and all is as it should be.
class Core : public testing::Test {
 protected:
  Core() {
    description.members = {};
    for (uint64_t i = 1; i <= 5; ++i) {
      const std::string number = std::to_string(i);
      description.members.push_back(
          {.node = NodeId{i}, .disk = DiskId{i}, .name = "n" + number, .rack = "r" + number});
    }
    description.owners = {0, 1, 2, 3, 4, 0, 1, 2};
    description.buckets = {BucketDescription()};
    description.secret = std::string(32, 's');
  }

  std::vector<CoreMember> members() {
    ring = std::make_unique<Ring>(description);
    std::vector<CoreMember> core;
    for (uint64_t i = 1; i <= 3; ++i) {
      CoreMember& member = core.emplace_back();
      member.name = "n" + std::to_string(i);
      member.node = NodeId{i};
      member.serves = true;
      member.ring = ring.get();
      member.reached = {NodeId{1}, NodeId{2}, NodeId{3}};
    }
    return core;
  }
  static std::string lacks(const std::vector<CoreMember>& core) {
    const auto violation = what_core_lacks(core);
    return violation ? violation->invariant : "";
  }
  // A key with so many owners in the core.
  std::string key_with(size_t owners) {
    for (int i = 0;; ++i) {
      const std::string key = "k" + std::to_string(i);
      const auto list = ring->preference_list(ring->partition(digest_of("", key)));
      if (static_cast<size_t>(std::count_if(list.begin(), list.end(), [](uint16_t at) { return at < 3; })) ==
          owners)
        return key;
    }
  }

  RingDescription description;
  std::unique_ptr<Ring> ring;
};

TEST_F(Core, LacksNothing) { EXPECT_EQ(lacks(members()), ""); }

TEST_F(Core, IsOneViewOfMembersThatServe) {
  std::vector<CoreMember> silent = members();
  silent[1].serves = false;
  EXPECT_EQ(lacks(silent), "L6");
  std::vector<CoreMember> blind = members();
  blind[0].reached.erase(NodeId{3});
  EXPECT_EQ(lacks(blind), "L1");
  std::vector<CoreMember> late = members();
  RingDescription older = description;
  older.epoch = 7;
  const Ring of_its_own(older);
  late[2].ring = &of_its_own;
  EXPECT_EQ(lacks(late), "L1");
}

TEST_F(Core, KeepsNoHintsForItselfButForThoseOutside) {
  std::vector<CoreMember> core = members();
  core[0].hints[NodeId{4}] = 3;
  EXPECT_EQ(lacks(core), "");
  core[0].hints[NodeId{2}] = 1;
  EXPECT_EQ(lacks(core), "L2");
}

TEST_F(Core, IsWholeWhereEnoughOthersOwn) {
  std::vector<CoreMember> core = members();
  core[0].incomplete = {0};  // of n1, n2 and n3
  EXPECT_EQ(lacks(core), "L3");
  core[0].incomplete = {4};  // of n5, n1 and n2: one other is left of the two that it takes
  EXPECT_EQ(lacks(core), "");
}

TEST_F(Core, EndsEveryChange) {
  description.change = RingChange{description.members, {1, 1, 2, 3, 4, 0, 1, 2}, 3, false, 9};
  EXPECT_EQ(lacks(members()), "L5");
  description.change.reset();
  description.members[4].status = MemberStatus::kLeaving;
  EXPECT_EQ(lacks(members()), "L5");
}

TEST_F(Core, LetsALeaverWaitForThoseWhoseHintsItKeeps) {
  description.members[2].status = MemberStatus::kLeaving;
  std::vector<CoreMember> core = members();
  EXPECT_EQ(lacks(core), "L5");
  core[2].hints[NodeId{5}] = 1;
  EXPECT_EQ(lacks(core), "");
}

TEST_F(Core, GivesAVoteToWhoHasAllItsCopies) {
  description.members[1].voter = false;
  std::vector<CoreMember> core = members();
  EXPECT_EQ(lacks(core), "L5");
  core[1].incomplete = {4};
  EXPECT_EQ(lacks(core), "");
}

TEST_F(Core, ServesTheKeysOfWhichItHasAQuorumThatIsWhole) {
  std::vector<CoreMember> core = members();
  EXPECT_TRUE(is_served_by(core, "", key_with(2)));
  EXPECT_FALSE(is_served_by(core, "", key_with(1)));
  const std::string key = key_with(2);
  for (CoreMember& member : core) member.incomplete = {ring->partition(digest_of("", key))};
  EXPECT_FALSE(is_served_by(core, "", key));
}

TEST_F(Core, IsHeldToTheRequestsThatItMustServe) {
  const std::vector<CoreMember> core = members();
  const auto verdict = [&](const std::string& key, const Status& status, bool unconfirmed) {
    History history;
    Operation get;
    get.request = {ClientGet{"", key, 0, true}, std::chrono::seconds(5)};
    GetResult result;
    result.unconfirmed = unconfirmed;
    history.complete(history.invoke(get, Time()), {status, result, 1, Boot{1}, {}}, Time());
    const auto violation = check_core(history, 0, core);
    return violation ? violation->invariant : "";
  };
  EXPECT_EQ(verdict(key_with(2), {}, false), "");
  EXPECT_EQ(verdict(key_with(2), {}, true), "L6");
  EXPECT_EQ(verdict(key_with(2), unavailable("no quorum"), false), "L6");
  EXPECT_EQ(verdict(key_with(1), unavailable("no quorum"), false), "");
}

TEST_F(Core, CallsAllOfItUp) {
  const std::vector<CoreMember> core = members();
  const auto verdict = [&](const std::string& name) {
    History history;
    Operation ask;
    ask.request = {ClientStatus(), std::chrono::seconds(5)};
    MemberInfo member;
    member.name = name;
    member.state = "down";
    ClusterStatus status;
    status.members = {member};
    history.complete(history.invoke(ask, Time()), {{}, status, 1, Boot{1}, {}}, Time());
    const auto violation = check_core(history, 0, core);
    return violation ? violation->invariant : "";
  };
  EXPECT_EQ(verdict("n2"), "L1");
  EXPECT_EQ(verdict("n4"), "");
}

}  // namespace
}  // namespace ringkv::simulation
