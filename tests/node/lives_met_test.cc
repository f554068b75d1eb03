#include "node/lives_met.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace ringkv {
namespace {

constexpr NodeId kSelf{1};
constexpr NodeId kSecond{2};
constexpr NodeId kThird{3};

RingDescription ring_of_three() {
  RingDescription ring;
  ring.epoch = 5;
  ring.members = {
      {.node = kThird, .name = "n3"}, {.node = kSelf, .name = "n1"}, {.node = kSecond, .name = "n2"}};
  return ring;
}

// n1, which has met the others.
struct Fixture {
  Fixture() {
    lives.on_met(kSecond, Boot{20});
    lives.on_met(kThird, Boot{30});
    states.set_members({kSecond, kThird, NodeId{4}});
  }

  PeerState state_of(NodeId node, Boot boot, uint64_t met, uint64_t without_hints) {
    return {.node = node,
            .boot = boot,
            .generation = 1,
            .version = ++version,
            .boots_met = met,
            .boots_without_hints = without_hints};
  }
  void says(NodeId node, Boot boot, uint64_t met, uint64_t without_hints = 0) {
    states.learn(state_of(node, boot, met, without_hints));
  }
  BootClosing::Boots agreed() { return lives.agreed(ring, states, own); }

  RingDescription ring = ring_of_three();
  LivesMet lives{{kSelf, Boot{10}}};
  SeededRandom random{1};
  uint64_t version = 0;
  PeerState own{.node = kSelf, .boot = Boot{10}};
  StateGossip states{own, std::chrono::seconds(1), random};
};

TEST(LivesMet, MembersThatHaveMetTheSameSayTheSame) {
  Fixture fixture;
  LivesMet third({kThird, Boot{30}});
  EXPECT_EQ(third.digest(fixture.ring), 0U) << "it hasn't met all yet";
  third.on_met(kSelf, Boot{10});
  third.on_met(kSecond, Boot{19});
  third.on_met(kSecond, Boot{20});
  EXPECT_EQ(third.digest(fixture.ring), fixture.lives.digest(fixture.ring));
  std::swap(fixture.ring.members[0], fixture.ring.members[1]);
  EXPECT_EQ(third.digest(fixture.ring), fixture.lives.digest(fixture.ring));
}

TEST(LivesMet, AnotherLifeAnotherMemberOrAnotherEpochIsAnotherDigest) {
  Fixture fixture;
  const uint64_t before = fixture.lives.digest(fixture.ring);
  fixture.ring.epoch = 6;
  EXPECT_NE(fixture.lives.digest(fixture.ring), before);
  fixture.ring.epoch = 5;
  EXPECT_EQ(fixture.lives.digest(fixture.ring), before);
  fixture.lives.on_met(kSecond, Boot{21});
  EXPECT_NE(fixture.lives.digest(fixture.ring), before);
  fixture.lives.on_met(kSecond, Boot{20});
  fixture.ring.members.pop_back();
  EXPECT_NE(fixture.lives.digest(fixture.ring), before);
}

TEST(LivesMet, AllHaveMetWhenEachSaysSoInItsLatestLife) {
  Fixture fixture;
  const uint64_t digest = fixture.lives.digest(fixture.ring);
  fixture.own.boots_met = digest;
  fixture.says(kSecond, Boot{20}, digest);
  EXPECT_FALSE(fixture.agreed().all_met) << "n3 hasn't spoken";
  EXPECT_EQ(fixture.agreed().missing.size(), 3U) << "and nobody has looked through his hints";

  fixture.says(kThird, Boot{29}, digest);
  EXPECT_FALSE(fixture.agreed().all_met) << "n3 has said so in an earlier life";
  fixture.says(kThird, Boot{30}, digest);
  EXPECT_TRUE(fixture.agreed().all_met);
  EXPECT_FALSE(fixture.agreed().all_without_hints);
  EXPECT_EQ(fixture.agreed().latest,
            (std::vector<Actor>{{kSelf, Boot{10}}, {kSecond, Boot{20}}, {kThird, Boot{30}}}));
}

TEST(LivesMet, AllAreWithoutHintsWhenEachSaysSoOfThoseLives) {
  Fixture fixture;
  const uint64_t digest = fixture.lives.digest(fixture.ring);
  fixture.own.boots_met = fixture.own.boots_without_hints = digest;
  fixture.says(kSecond, Boot{20}, digest, digest);
  fixture.says(kThird, Boot{30}, digest, 77);
  EXPECT_FALSE(fixture.agreed().all_without_hints);
  EXPECT_EQ(fixture.agreed().missing, std::vector<NodeId>{kThird});
  fixture.says(kThird, Boot{30}, digest, digest);
  EXPECT_TRUE(fixture.agreed().all_without_hints);
  EXPECT_TRUE(fixture.agreed().missing.empty());
}

TEST(LivesMet, NothingIsAgreedOnWhileALifeIsNotKnown) {
  Fixture fixture;
  fixture.ring.members.push_back({.node = NodeId{4}, .name = "n4"});
  fixture.says(kSecond, Boot{20}, 0);
  fixture.says(kThird, Boot{30}, 0);
  fixture.says(NodeId{4}, Boot{40}, 0);
  EXPECT_FALSE(fixture.agreed().all_met);
  EXPECT_FALSE(fixture.agreed().all_without_hints);
}

}  // namespace
}  // namespace ringkv
