#include "gossip/failure_detector.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kSelf{1};
constexpr NodeId kA{2};
constexpr NodeId kB{3};
constexpr NodeId kC{4};
constexpr NodeId kStranger{99};

std::vector<NodeId> nodes(size_t count) {
  std::vector<NodeId> all;
  for (size_t i = 0; i < count; ++i) all.push_back({kA.value + i});
  return all;
}

struct Sent {
  NodeId to;
  GossipMessage message;
};

// One detector whose ticks are as regular as a loop's, and the messages that it sends.
class FailureDetectorTest : public ::testing::Test {
 protected:
  void begin(const std::vector<NodeId>& members) {
    detector_.set_members(members, now_);
    while (sent<Probe>().empty()) tick();
  }

  void tick() {
    now_ += milliseconds(10);
    detector_.tick(moment(), outbox_);
    take_outbox();
  }
  FailureDetector::Moment moment() const { return {now_, wall_}; }
  void run(Duration duration) {
    for (const Time until = now_ + duration; now_ < until;) tick();
  }

  template <class Message>
  void receive(NodeId from, const Message& message) {
    detector_.on(from, message, moment(), outbox_);
    take_outbox();
  }

  // Whoever was probed since the last call answers, but for `silent`.
  void answer_all(const std::set<NodeId>& silent = {}) {
    for (const auto& [to, probe] : take<Probe>()) {
      if (!silent.contains(to)) receive(to, ProbeAck{probe.sequence, to, {}});
    }
  }
  // A whole round in which all but `silent` answer; it ends as the next one begins.
  void round(const std::set<NodeId>& silent = {}) {
    answer_all(silent);
    while (sent<Probe>().empty()) tick();
  }

  template <class Message>
  std::vector<std::pair<NodeId, Message>> sent() const {
    std::vector<std::pair<NodeId, Message>> found;
    for (const Sent& sent : sent_) {
      if (const auto* message = std::get_if<Message>(&sent.message)) found.emplace_back(sent.to, *message);
    }
    return found;
  }
  template <class Message>
  std::vector<std::pair<NodeId, Message>> take() {
    auto found = sent<Message>();
    std::erase_if(sent_, [](const Sent& sent) { return std::holds_alternative<Message>(sent.message); });
    return found;
  }

  SeededRandom random_{42};
  FailureDetector detector_{kSelf, 7, {}, random_};
  Time now_{seconds(1000)};
  WallMicros wall_ = 0;

 private:
  void take_outbox() {
    for (auto& envelope : outbox_.envelopes()) sent_.push_back({envelope.to, std::move(envelope.message)});
    outbox_.clear();
  }

  GossipOutbox outbox_;
  std::vector<Sent> sent_;
};

template <class Message>
std::set<NodeId> receivers(const std::vector<std::pair<NodeId, Message>>& sent) {
  std::set<NodeId> to;
  for (const auto& [node, message] : sent) to.insert(node);
  return to;
}

TEST_F(FailureDetectorTest, ProbesEverybodyOnceARoundUpToSixteenMembers) {
  begin(nodes(15));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(sent<Probe>().size(), 15U);
    EXPECT_EQ(receivers(sent<Probe>()).size(), 15U);
    round();
  }
}

TEST_F(FailureDetectorTest, ProbesFifteenARoundAndNobodyWaitsLongerThanTwoPasses) {
  begin(nodes(40));
  std::map<NodeId, int> last_probed;
  for (int i = 1; i <= 60; ++i) {
    EXPECT_EQ(sent<Probe>().size(), 15U);
    for (const NodeId node : receivers(sent<Probe>())) last_probed[node] = i;
    round();
    for (const NodeId node : nodes(40)) EXPECT_LE(i - last_probed[node], 6) << "round " << i;
  }
}

TEST_F(FailureDetectorTest, RoundsBeginASecondApart) {
  begin(nodes(3));
  answer_all();
  run(milliseconds(990));
  EXPECT_TRUE(sent<Probe>().empty());
  run(milliseconds(10));
  EXPECT_EQ(sent<Probe>().size(), 3U);
}

// Each says what its own clock says, also where it passes on that another is alive.
TEST_F(FailureDetectorTest, ProbesAndAnswersCarryTheSendersClock) {
  wall_ = 1'700'000'000'000'000;
  begin(nodes(3));
  for (const auto& [to, probe] : take<Probe>()) EXPECT_EQ(probe.wall, wall_);

  receive(kA, Probe{.sequence = 9, .claims = {}, .wall = 5});
  EXPECT_EQ(take<ProbeAck>().at(0).second.wall, wall_);

  receive(kA, ProbeRequest{10, kB, {}});
  const auto relayed = take<Probe>();
  ASSERT_EQ(relayed.size(), 1U);
  EXPECT_EQ(relayed[0].second.wall, wall_);
  wall_ += 7;
  receive(kB, ProbeAck{.sequence = relayed[0].second.sequence, .target = kB, .claims = {}, .wall = 5});
  EXPECT_EQ(take<ProbeAck>().at(0).second.wall, wall_);
}

TEST_F(FailureDetectorTest, AsksThreeOthersWhenNoAnswerComesInTime) {
  begin(nodes(6));
  answer_all({kA});
  run(milliseconds(490));
  EXPECT_TRUE(sent<ProbeRequest>().empty());
  run(milliseconds(10));

  const auto requests = take<ProbeRequest>();
  EXPECT_EQ(requests.size(), 3U);
  EXPECT_EQ(receivers(requests).size(), 3U);
  EXPECT_FALSE(receivers(requests).contains(kA));
  for (const auto& [to, request] : requests) EXPECT_EQ(request.target, kA);
  run(milliseconds(300));
  EXPECT_TRUE(sent<ProbeRequest>().empty());
}

TEST_F(FailureDetectorTest, AnAnswerThroughAnotherIsAsGood) {
  begin(nodes(3));
  answer_all({kA});
  run(milliseconds(500));
  receive(kB, ProbeAck{take<ProbeRequest>().front().second.sequence, kA, {}});
  round();
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
  EXPECT_EQ(detector_.statistics().suspected, 0U);
}

// ---- the way between this node and another

TEST_F(FailureDetectorTest, WhoAnswersOthersOnlyIsAliveAndNotHeard) {
  begin(nodes(3));
  const auto round_through_b = [this] {
    answer_all({kA});
    run(milliseconds(500));
    receive(kB, ProbeAck{take<ProbeRequest>().front().second.sequence, kA, {}});
    round();
  };
  round_through_b();
  EXPECT_TRUE(detector_.hears(kA)) << "one lost answer says nothing";
  round_through_b();
  EXPECT_FALSE(detector_.hears(kA));
  EXPECT_TRUE(detector_.hears(kB));
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
  round();
  EXPECT_TRUE(detector_.hears(kA)) << "one direct answer is enough";
}

TEST_F(FailureDetectorTest, AWayThatIsSilentIsTriedInEachRoundOfALargeClusterToo) {
  begin(nodes(40));
  while (!receivers(sent<Probe>()).contains(kA)) round();
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(receivers(sent<Probe>()).contains(kA)) << "round " << i;
    answer_all({kA});
    run(milliseconds(500));
    for (const auto& [to, request] : take<ProbeRequest>()) receive(to, ProbeAck{request.sequence, kA, {}});
    round();
  }
  EXPECT_FALSE(detector_.hears(kA));
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, ALaterLifeIsHeardFromItsGreetingOn) {
  begin(nodes(3));
  for (int i = 0; i < 2; ++i) round({kA});
  EXPECT_FALSE(detector_.hears(kA));
  detector_.on_greeted(kA, 1, now_);
  EXPECT_TRUE(detector_.hears(kA));
  for (int i = 0; i < 2; ++i) round({kA});
  detector_.on_greeted(kA, 1, now_);
  EXPECT_FALSE(detector_.hears(kA)) << "a greeting of the same life comes on its way only, not on ours";
}

TEST_F(FailureDetectorTest, WhoIsDownAndComesBackIsHeardUntilItDoesNotAnswer) {
  begin(nodes(3));
  for (int i = 0; i < 5; ++i) round({kA});
  ASSERT_EQ(detector_.health(kA), Health::kDown);
  detector_.on_greeted(kA, 5, now_);
  EXPECT_TRUE(detector_.hears(kA));
}

TEST_F(FailureDetectorTest, TimeThatItDidNotLiveThroughIsHeldAgainstNoWay) {
  begin(nodes(3));
  round({kA});
  now_ += seconds(30);
  for (int i = 0; i < 2; ++i) {
    tick();
    EXPECT_TRUE(detector_.hears(kA));
    EXPECT_TRUE(detector_.hears(kB));
  }
}

TEST_F(FailureDetectorTest, AnAnswerCountsOnlyForWhomItNamesAndFromWhomItWasAsked) {
  begin(nodes(3));
  const auto probes = take<Probe>();
  const auto to_a =
      std::find_if(probes.begin(), probes.end(), [](const auto& sent) { return sent.first == kA; });
  const uint64_t sequence = to_a->second.sequence;
  receive(kB, ProbeAck{sequence, kB, {}});
  receive(kB, ProbeAck{sequence, kA, {}});       // nobody had asked it
  receive(kA, ProbeAck{sequence + 77, kA, {}});  // of no probe
  run(seconds(1));
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
}

TEST_F(FailureDetectorTest, SilenceForARoundIsASuspicionAndThenDown) {
  begin(nodes(3));
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
  EXPECT_EQ(detector_.statistics().suspected, 1U);
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
  round({kA});
  tick();
  EXPECT_EQ(detector_.health(kA), Health::kDown);
  EXPECT_EQ(detector_.down(), std::vector<NodeId>{kA});
  EXPECT_EQ(detector_.statistics().down, 1U);
}

TEST_F(FailureDetectorTest, OtherAccusersShortenTheWait) {
  begin(nodes(3));
  round({kA});
  const HealthClaim by_b{kA, 0, 0, Health::kSuspect, kB};
  const HealthClaim by_c{kA, 0, 0, Health::kSuspect, kC};
  receive(kB, ProbeAck{0, kB, {by_b}});
  receive(kC, ProbeAck{0, kC, {by_c}});
  answer_all({kA});
  run(milliseconds(980));
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
  run(milliseconds(20));
  EXPECT_EQ(detector_.health(kA), Health::kDown);
}

TEST_F(FailureDetectorTest, ASuspectIsToldAndAskedForThroughOthersAtOnce) {
  begin(nodes(3));
  answer_all({kA});
  run(milliseconds(600));
  take<ProbeRequest>();
  round({kA});

  const HealthClaim suspicion{kA, 0, 0, Health::kSuspect, kSelf};
  EXPECT_EQ(sent<Probe>().front().first, kA);
  EXPECT_EQ(sent<Probe>().front().second.claims.at(1), suspicion);
  const auto requests = take<ProbeRequest>();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].second.claims.at(1), suspicion);

  receive(kA, ProbeAck{0, kA, {{kA, 0, 1, Health::kAlive, {}}}});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, AsksNobodyWhoIsDown) {
  begin(nodes(4));
  for (int i = 0; i < 4; ++i) round({kC});
  ASSERT_EQ(detector_.health(kC), Health::kDown);
  take<ProbeRequest>();
  answer_all({kA, kC});
  run(milliseconds(500));
  EXPECT_EQ(receivers(sent<ProbeRequest>()), (std::set<NodeId>{kB, {kC.value + 1}}));
}

TEST_F(FailureDetectorTest, WhoIsDownIsProbedOnAndComesBackByItsRefutation) {
  begin(nodes(2));
  for (int i = 0; i < 4; ++i) round({kA});
  ASSERT_EQ(detector_.health(kA), Health::kDown);
  EXPECT_TRUE(receivers(sent<Probe>()).contains(kA));

  receive(kA, ProbeAck{0, kA, {}});  // late, and not a refutation
  EXPECT_EQ(detector_.health(kA), Health::kDown);
  receive(kA, ProbeAck{0, kA, {{kA, 0, 1, Health::kAlive, {}}}});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, ANewLifeThatGreetsIsBack) {
  begin(nodes(2));
  for (int i = 0; i < 4; ++i) round({kA});
  ASSERT_EQ(detector_.health(kA), Health::kDown);
  detector_.on_greeted(kA, 8, now_);
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, AnswersAProbeWithItsSequence) {
  begin(nodes(2));
  receive(kA, Probe{123, {}});
  const auto acks = take<ProbeAck>();
  ASSERT_EQ(acks.size(), 1U);
  EXPECT_EQ(acks[0].first, kA);
  EXPECT_EQ(acks[0].second.sequence, 123U);
  EXPECT_EQ(acks[0].second.target, kSelf);
  EXPECT_EQ(acks[0].second.claims.at(0), (HealthClaim{kSelf, 7, 0, Health::kAlive, {}}));
}

TEST_F(FailureDetectorTest, RefutesInTheVeryAnswer) {
  begin(nodes(2));
  receive(kA, Probe{123, {{kSelf, 7, 0, Health::kDown, kB}}});
  EXPECT_EQ(take<ProbeAck>()[0].second.claims.at(0), (HealthClaim{kSelf, 7, 1, Health::kAlive, {}}));
  EXPECT_EQ(detector_.statistics().refuted, 1U);
}

TEST_F(FailureDetectorTest, ProbesForAnotherAndAnswersItWithItsSequence) {
  begin(nodes(3));
  answer_all();
  receive(kA, ProbeRequest{55, kB, {{kB, 0, 0, Health::kSuspect, kA}}});
  const auto probes = take<Probe>();
  ASSERT_EQ(probes.size(), 1U);
  EXPECT_EQ(probes[0].first, kB);
  EXPECT_EQ(probes[0].second.claims.at(1), (HealthClaim{kB, 0, 0, Health::kSuspect, kA}));

  const ProbeAck ack{probes[0].second.sequence, kB, {{kB, 0, 1, Health::kAlive, {}}}};
  receive(kC, ack);  // not who was probed
  EXPECT_TRUE(sent<ProbeAck>().empty());
  receive(kB, ack);
  receive(kB, ack);
  const auto acks = take<ProbeAck>();
  ASSERT_EQ(acks.size(), 1U);
  EXPECT_EQ(acks[0].first, kA);
  EXPECT_EQ(acks[0].second.sequence, 55U);
  EXPECT_EQ(acks[0].second.target, kB);
  EXPECT_EQ(acks[0].second.claims.at(1), (HealthClaim{kB, 0, 1, Health::kAlive, {}}));
}

TEST_F(FailureDetectorTest, ProbesNoStrangerForAnotherAndRemembersABoundedNumber) {
  begin(nodes(3));
  answer_all();
  receive(kA, ProbeRequest{1, kStranger, {}});
  EXPECT_TRUE(sent<Probe>().empty());
  for (uint64_t i = 0; i < 10'000; ++i) receive(kA, ProbeRequest{i, kB, {}});
  EXPECT_EQ(take<Probe>().size(), 512U);

  for (int i = 0; i < 6; ++i) round();
  answer_all();
  receive(kA, ProbeRequest{1, kB, {}});
  EXPECT_EQ(sent<Probe>().size(), 1U);
}

TEST_F(FailureDetectorTest, AfterAFreezeItsProbesSayNothing) {
  begin(nodes(3));
  take<Probe>();
  now_ += milliseconds(1500);
  tick();
  EXPECT_EQ(detector_.statistics().suspected, 0U);
  EXPECT_EQ(sent<Probe>().size(), 3U);  // a new round
}

TEST_F(FailureDetectorTest, AFreezeIsNoticedBehindAMessageToo) {
  begin(nodes(3));
  take<Probe>();
  now_ += milliseconds(1500);
  receive(kB, Probe{1, {}});
  tick();
  EXPECT_EQ(detector_.statistics().suspected, 0U);
}

TEST_F(FailureDetectorTest, ARoundWithAFreezeInItIsNotAMissedOne) {
  begin(nodes(3));
  answer_all({kA});
  now_ += milliseconds(1500);
  tick();
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
}

TEST_F(FailureDetectorTest, AFreezeLeavesSuspectsTheirTimeToRefute) {
  begin(nodes(3));
  round({kA});
  answer_all({kA});
  run(milliseconds(500));
  now_ += seconds(10);
  tick();
  run(milliseconds(1400));
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
  run(milliseconds(200));
  EXPECT_EQ(detector_.health(kA), Health::kDown);
}

// The refutation may have come during the freeze and wait to be read.
TEST_F(FailureDetectorTest, NobodyGoesDownRightAfterAFreeze) {
  begin(nodes(3));
  round({kA});
  answer_all({kA});
  run(milliseconds(1980));
  ASSERT_EQ(detector_.health(kA), Health::kSuspect);
  now_ += seconds(10);
  tick();
  run(milliseconds(400));
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
  receive(kA, ProbeAck{0, kA, {{kA, 0, 1, Health::kAlive, {}}}});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, ANodeThatHadToRefuteMissesOthersForASecondRoundBeforeItAccusesThem) {
  begin(nodes(3));
  receive(kA, Probe{1, {{kSelf, 7, 0, Health::kSuspect, kB}}});
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);
}

TEST_F(FailureDetectorTest, WhenMostAreSilentTheOthersHaveMoreTimeFromTheNextRoundOn) {
  constexpr NodeId kD{kC.value + 1};
  begin(nodes(4));
  round({kA, kB, kC});
  EXPECT_EQ(detector_.health(kA), Health::kSuspect);

  round({kA, kB, kC, kD});
  EXPECT_EQ(detector_.health(kD), Health::kAlive);
  round({kA, kB, kC, kD});
  round({kA, kB, kC, kD});
  EXPECT_EQ(detector_.health(kD), Health::kSuspect);
}

TEST_F(FailureDetectorTest, WhenHalfAreSilentItDoesNotDoubtItself) {
  begin(nodes(4));
  round({kA, kB});
  round({kA, kB, kC});
  EXPECT_EQ(detector_.health(kC), Health::kSuspect);
}

TEST_F(FailureDetectorTest, WhoWasMissedIsInTheNextRoundWhateverItsTurn) {
  begin(nodes(40));
  for (int i = 0; i < 20; ++i) {
    const NodeId silent = sent<Probe>().front().first;
    round({silent});
    EXPECT_TRUE(receivers(sent<Probe>()).contains(silent));
    receive(silent, ProbeAck{0, silent, {{silent, 1, static_cast<uint64_t>(i + 1), Health::kAlive, {}}}});
  }
}

TEST_F(FailureDetectorTest, WhoComesBackFromDownWithinARoundIsNotAccusedForIt) {
  begin(nodes(2));
  for (int i = 0; i < 4; ++i) round({kA});
  ASSERT_EQ(detector_.health(kA), Health::kDown);
  answer_all({kA});
  receive(kA, Probe{1, {{kA, 0, 1, Health::kAlive, {}}}});
  round({kA});
  EXPECT_EQ(detector_.health(kA), Health::kAlive);
}

TEST_F(FailureDetectorTest, WhoIsNoLongerAMemberIsNotProbed) {
  begin(nodes(3));
  answer_all({kA});
  detector_.set_members({kB, kC}, now_);
  EXPECT_EQ(detector_.health(kA), Health::kDown);
  EXPECT_TRUE(detector_.down().empty());
  run(seconds(1));
  EXPECT_EQ(receivers(sent<Probe>()), (std::set<NodeId>{kB, kC}));
  EXPECT_TRUE(sent<ProbeRequest>().empty());
}

TEST_F(FailureDetectorTest, AloneItIsQuiet) {
  detector_.set_members({}, now_);
  run(seconds(5));
  EXPECT_TRUE(sent<Probe>().empty());
  EXPECT_TRUE(detector_.down().empty());
}

}  // namespace
}  // namespace ringkv
