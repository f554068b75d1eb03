#include "replication/put_copies.h"

#include <gtest/gtest.h>

#include "tests/replication/cluster_fixture.h"

namespace ringkv {
namespace {

constexpr Time kSent{std::chrono::seconds(1)};
constexpr Duration kDelay = std::chrono::milliseconds(200);
constexpr NodeId kSelf{1}, kB{2}, kC{3}, kD{4}, kE{5}, kF{6};

// The partition's owners are n1 (the coordinator), n2 and n3; n4, n5, ... stand in, in that order.
class PutCopiesTest : public testing::Test {
 protected:
  explicit PutCopiesTest(size_t nodes = 6)
      : ring_(ClusterFixture::description(nodes, 3)), view_(kSelf, ring_, &token_of) {}

  PutCopies copies(PutCopies::Rules rules) const {
    rules.hint_delay = kDelay;
    PutCopies copies({{kSelf, kB, kC}, {}}, kSelf, rules, kSent);
    copies.on_view(view_);
    return copies;
  }
  void see_unreachable(std::vector<NodeId> nodes) { view_.set_view({.unreachable = std::move(nodes)}); }
  // "2>4": n4 is asked to keep a hint for n2.
  std::string asked(PutCopies& copies, Time now = kSent, bool at_once = false) const {
    return text(copies.ask_keepers(view_, 0, now, at_once));
  }
  static std::string text(const std::vector<PutCopies::Hint>& hints) {
    std::string text;
    for (const PutCopies::Hint& hint : hints) {
      if (!text.empty()) text += " ";
      text += std::to_string(hint.intended.value) + ">" + std::to_string(hint.keeper.value);
    }
    return text;
  }

  Ring ring_;
  RingView view_;
};

class PutCopiesOfThreeNodesTest : public PutCopiesTest {
 protected:
  PutCopiesOfThreeNodesTest() : PutCopiesTest(3) {}
};

TEST_F(PutCopiesTest, SilentOwnersGetStandInsOnceTheHintDelayHasPassed) {
  PutCopies copies = this->copies({.needed = 2});
  EXPECT_EQ(asked(copies, kSent + kDelay - Duration(1)), "");
  copies.on_held(kB);
  EXPECT_EQ(asked(copies, kSent + kDelay), "3>4");
  EXPECT_EQ(asked(copies, kSent + kDelay), "") << "once";
}

TEST_F(PutCopiesTest, OwnersThatCanNotBeReachedGetStandInsAtOnce) {
  see_unreachable({kB, kC});
  PutCopies copies = this->copies({.needed = 2});
  EXPECT_EQ(asked(copies), "2>4 3>5") << "a node stands in for one owner";
  copies.on_hint_kept({kB, kD});
  EXPECT_FALSE(copies.reached());
  copies.on_held(kSelf);
  EXPECT_TRUE(copies.reached());
  EXPECT_EQ(text(copies.hints_kept()), "2>4");
}

TEST_F(PutCopiesTest, AnOwnerAndItsStandInFillOneSlot) {
  see_unreachable({kC});
  PutCopies copies = this->copies({.needed = 2});
  EXPECT_EQ(asked(copies), "3>4");
  copies.on_hint_kept({kC, kD});
  copies.on_hint_kept({kC, kD});
  copies.on_held(kC);
  EXPECT_FALSE(copies.reached());
}

TEST_F(PutCopiesTest, WherePrimaryAcknowledgementsAreAskedForHintsAreKeptAndDoNotCount) {
  see_unreachable({kC});
  PutCopies copies = this->copies({.needed = 3, .primary = true});
  EXPECT_EQ(asked(copies), "3>4");
  EXPECT_FALSE(copies.possible());
  copies.on_held(kSelf);
  copies.on_held(kB);
  copies.on_hint_kept({kC, kD});
  EXPECT_FALSE(copies.reached());
  EXPECT_EQ(text(copies.hints_kept()), "3>4");
}

TEST_F(PutCopiesTest, AStandInThatRefusesOrIsSilentIsFollowedByTheNextAndTheCoordinatorIsLast) {
  see_unreachable({kC});
  PutCopies copies = this->copies({.needed = 3});
  copies.on_held(kSelf);
  copies.on_held(kB);
  EXPECT_EQ(asked(copies), "3>4");
  copies.on_hint_refused({kC, kD});
  EXPECT_EQ(asked(copies), "3>5");
  EXPECT_EQ(asked(copies, kSent + kDelay - Duration(1)), "");
  EXPECT_EQ(asked(copies, kSent + kDelay), "3>6");
  see_unreachable({kC, kF});
  copies.on_view(view_);
  EXPECT_EQ(asked(copies, kSent + kDelay), "3>1");
  EXPECT_EQ(asked(copies, kSent + 9 * kDelay), "") << "nobody is left";
  copies.on_hint_kept({kC, kSelf});
  EXPECT_FALSE(copies.reached()) << "the coordinator's copy is one already";
  copies.on_hint_kept({kC, kE});
  EXPECT_TRUE(copies.reached()) << "who answers late counts";
}

TEST_F(PutCopiesTest, ANodeThatHasRefusedOneOwnersHintMayKeepAnothers) {
  see_unreachable({kC, kE, kF});
  PutCopies copies = this->copies({.needed = 2});
  EXPECT_EQ(asked(copies), "3>4");
  copies.on_hint_refused({kC, kD});
  copies.on_refused(kB, overloaded("busy"));
  EXPECT_EQ(asked(copies), "2>4 3>1");
}

TEST_F(PutCopiesTest, OnlyOwnersThatCanNotStoreItNowGetAHint) {
  PutCopies copies = this->copies({.needed = 2});
  copies.on_refused(kB, out_of_space("full"));
  copies.on_refused(kC, too_many_siblings("too many"));
  EXPECT_EQ(asked(copies, kSent + 9 * kDelay), "2>4") << "n3 would refuse the hint, too";
}

TEST_F(PutCopiesTest, NobodyStandsInForTheCoordinator) {
  PutCopies copies = this->copies({.needed = 3});
  copies.on_held(kB);
  copies.on_held(kC);
  EXPECT_EQ(asked(copies, kSent + 9 * kDelay), "");
}

TEST_F(PutCopiesTest, AnOwnerThatHoldsItAfterAllCancelsItsHintsWhoeverMayKeepThem) {
  PutCopies copies = this->copies({.needed = 2});
  copies.on_held(kB);
  EXPECT_EQ(asked(copies, kSent + kDelay), "3>4");
  EXPECT_EQ(asked(copies, kSent + 2 * kDelay), "3>5");
  copies.on_hint_refused({kC, kD});
  EXPECT_EQ(text(copies.on_held(kC)), "3>5");
  EXPECT_EQ(text(copies.on_held(kC)), "") << "once";
  EXPECT_TRUE(copies.on_hint_kept({kC, kE})) << "it isn't needed any more";
  EXPECT_EQ(text(copies.hints_kept()), "");
}

TEST_F(PutCopiesTest, ItIsPossibleAsLongAsSomebodyMayYetAnswer) {
  see_unreachable({kB, kC, kE, kF});
  PutCopies copies = this->copies({.needed = 2});
  EXPECT_EQ(asked(copies), "2>4 3>1");
  EXPECT_TRUE(copies.possible());
  copies.on_hint_refused({kB, kD});
  EXPECT_EQ(asked(copies), "2>1");
  EXPECT_FALSE(copies.possible());
}

TEST_F(PutCopiesTest, IsSettledWhenNobodyIsLeftToWaitFor) {
  PutCopies copies = this->copies({.needed = 2});
  copies.on_held(kSelf);
  copies.on_held(kB);
  EXPECT_EQ(asked(copies, kSent + kDelay), "3>4");
  copies.on_hint_kept({kC, kD});
  EXPECT_FALSE(copies.settled()) << "n3 may yet acknowledge it, and cancel the hint";
  see_unreachable({kC});
  copies.on_view(view_);
  EXPECT_TRUE(copies.settled());
}

TEST_F(PutCopiesTest, IsNotSettledWhileAHintIsOnItsWay) {
  see_unreachable({kC});
  PutCopies copies = this->copies({.needed = 2});
  copies.on_held(kSelf);
  copies.on_held(kB);
  EXPECT_EQ(asked(copies), "3>4");
  EXPECT_FALSE(copies.settled());
  EXPECT_TRUE(copies.awaits_owner(kC));
  EXPECT_EQ(copies.awaits_keeper(kD), kC);
  copies.on_hint_kept({kC, kD});
  EXPECT_TRUE(copies.settled());
  EXPECT_FALSE(copies.awaits_keeper(kD));
}

TEST_F(PutCopiesTest, HintsCanBeAskedForBeforeAnybodyWasSilent) {
  PutCopies copies = this->copies({.needed = 2});
  copies.on_held(kSelf);
  copies.on_held(kC);
  EXPECT_EQ(asked(copies, kSent, true), "2>4");
}

TEST_F(PutCopiesTest, WithoutHintsNobodyIsAskedToKeepAny) {
  see_unreachable({kB, kC});
  PutCopies copies = this->copies({.needed = 2, .hints = false});
  EXPECT_EQ(asked(copies, kSent + 9 * kDelay, true), "");
  EXPECT_FALSE(copies.possible());
}

TEST_F(PutCopiesOfThreeNodesTest, TheCoordinatorKeepsHintsWhereNobodyElseCan) {
  see_unreachable({kB, kC});
  PutCopies copies = this->copies({.needed = 1});
  EXPECT_EQ(asked(copies), "2>1 3>1");
}

// ---- while the ring changes: n4 is to take n3's place, n5 and n6 stand in

class PutCopiesOnTwoListsTest : public PutCopiesTest {
 protected:
  PutCopiesOnTwoListsTest() : two_(description()), two_view_(kSelf, two_, &token_of) {}

  static RingDescription description() {
    RingDescription ring = ClusterFixture::description(6, 3);
    ring.change = {.members = ring.members, .owners = ring.owners, .replicas = 3};
    for (uint16_t& owner : ring.change->owners) owner = owner == 2 ? 3 : owner;
    return ring;
  }
  PutCopies copies(PutCopies::Rules rules = {.needed = 2, .needed_next = 2}) const {
    rules.hint_delay = kDelay;
    PutCopies copies(two_view_.write_lists(0), kSelf, rules, kSent);
    copies.on_view(two_view_);
    return copies;
  }

  Ring two_;
  RingView two_view_;
};

TEST_F(PutCopiesOnTwoListsTest, WhoIsOnBothCountsOnBoth) {
  PutCopies copies = this->copies();
  EXPECT_EQ(copies.owners_without(), (std::vector<NodeId>{kSelf, kB, kC, kD}));
  copies.on_held(kSelf);
  EXPECT_FALSE(copies.reached());
  copies.on_held(kB);
  EXPECT_TRUE(copies.reached());
}

TEST_F(PutCopiesOnTwoListsTest, EachListNeedsItsOwn) {
  PutCopies copies = this->copies();
  copies.on_held(kSelf);
  copies.on_held(kC);
  EXPECT_FALSE(copies.reached()) << "one of the next list";
  copies.on_held(kD);
  EXPECT_TRUE(copies.reached());
}

TEST_F(PutCopiesOnTwoListsTest, AHintCountsOnTheListsOfWhomItIsFor) {
  PutCopies copies = this->copies();
  copies.on_held(kSelf);
  copies.on_held(kC);
  copies.on_refused(kB, unavailable("down"));
  copies.on_refused(kD, unavailable("down"));
  EXPECT_EQ(text(copies.ask_keepers(two_view_, 0, kSent)), "2>5 4>6");
  EXPECT_TRUE(copies.possible());
  copies.on_hint_kept({kD, kF});
  EXPECT_TRUE(copies.reached());
}

TEST_F(PutCopiesOnTwoListsTest, IsImpossibleWhereOneListCannotHaveEnough) {
  PutCopies copies = this->copies({.needed = 2, .needed_next = 3, .primary = true});
  copies.on_refused(kC, corruption("damaged"));
  EXPECT_TRUE(copies.possible()) << "n3 is not on the next list";
  copies.on_refused(kD, corruption("damaged"));
  EXPECT_FALSE(copies.possible());
}

// Who joins is named by the ring before it has opened its store.
TEST_F(PutCopiesOnTwoListsTest, ANewOwnerThatIsNotUpYetIsWaitedFor) {
  two_view_.set_view({.unreachable = {kD, kE, kF}});
  PutCopies copies = this->copies({.needed = 2, .needed_next = 3});
  copies.on_held(kSelf);
  copies.on_held(kB);
  EXPECT_EQ(text(copies.ask_keepers(two_view_, 0, kSent)), "4>1") << "its hint is kept meanwhile";
  EXPECT_TRUE(copies.possible());
  EXPECT_TRUE(copies.awaits_owner(kD)) << "it is sent the record again when it is there";
  copies.on_held(kD);
  EXPECT_TRUE(copies.reached());
}

TEST_F(PutCopiesOnTwoListsTest, APresentOwnerThatIsGoneIsNot) {
  two_view_.set_view({.unreachable = {kB, kC, kE, kF}});
  PutCopies copies = this->copies();
  copies.ask_keepers(two_view_, 0, kSent);
  EXPECT_FALSE(copies.possible());
}

}  // namespace
}  // namespace ringkv
