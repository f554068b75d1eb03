#include "gossip/state_gossip.h"

#include <gtest/gtest.h>

#include <iostream>
#include <numeric>

#include "tests/gossip/liveness_network.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kSelf{5};
constexpr NodeId kA{2};
constexpr NodeId kB{7};
constexpr NodeId kC{9};
constexpr NodeId kStranger{99};

PeerState state_of(NodeId node, uint64_t generation, uint64_t version) {
  PeerState state;
  state.node = node;
  state.generation = generation;
  state.version = version;
  state.peer_address = "host:7401";
  return state;
}

class StateGossipTest : public ::testing::Test {
 protected:
  StateGossipTest() { gossip_.set_members({kC, kA, kB}); }

  std::vector<StateDeltas> receive(NodeId from, const StateDigests& digests) {
    gossip_.on(from, digests, outbox_);
    return take_deltas();
  }
  std::vector<StateDeltas> receive(NodeId from, const StateDeltas& deltas) {
    gossip_.on(from, deltas, outbox_);
    return take_deltas();
  }

  // To whom digests went within the time.
  std::map<NodeId, int> run(Duration duration, const std::vector<NodeId>& down) {
    std::map<NodeId, int> partners;
    for (const Time until = now_ + duration; now_ < until; now_ += milliseconds(10)) {
      gossip_.tick(now_, down, outbox_);
      for (const auto& envelope : outbox_.envelopes()) ++partners[envelope.to];
      outbox_.clear();
    }
    return partners;
  }

  std::vector<StateDeltas> take_deltas() {
    std::vector<StateDeltas> taken;
    for (const auto& envelope : outbox_.envelopes()) taken.push_back(std::get<StateDeltas>(envelope.message));
    outbox_.clear();
    return taken;
  }

  SeededRandom random_{42};
  StateGossip gossip_{state_of(kSelf, 3, 0), seconds(1), random_};
  GossipOutbox outbox_;
  Time now_{seconds(1000)};
};

int rounds(const std::map<NodeId, int>& partners) {
  return std::accumulate(partners.begin(), partners.end(), 0,
                         [](int sum, const auto& partner) { return sum + partner.second; });
}

TEST_F(StateGossipTest, TheNewerOfTwoStatesIsKept) {
  gossip_.learn(state_of(kA, 1, 9));
  gossip_.learn(state_of(kA, 1, 8));
  EXPECT_EQ(gossip_.find(kA)->version, 9U);
  gossip_.learn(state_of(kA, 2, 0));
  EXPECT_EQ(gossip_.find(kA)->generation, 2U);
  EXPECT_EQ(gossip_.find(kB), nullptr);
}

// Bug log: a node whose clock was, or is, 400 days off (scylladb/scylladb#5164, CASSANDRA-10969).
TEST_F(StateGossipTest, NoClockDecidesWhichIsNewerAndAGenerationMayJumpFar) {
  PeerState before = state_of(kA, 5, 9);
  before.wall = 1'700'000'000'000'000;
  PeerState after = state_of(kA, 6, 0);
  after.wall = before.wall - uint64_t{400} * 86'400'000'000;
  gossip_.learn(before);
  gossip_.learn(after);
  EXPECT_EQ(*gossip_.find(kA), after);

  const PeerState far_ahead = state_of(kA, uint64_t{1} << 62, 0);
  gossip_.learn(far_ahead);
  EXPECT_EQ(*gossip_.find(kA), far_ahead);
}

TEST_F(StateGossipTest, StrangersAndOverlongAddressesAreNotTaken) {
  gossip_.learn(state_of(kStranger, 1, 1));
  EXPECT_EQ(gossip_.find(kStranger), nullptr);
  PeerState state = state_of(kA, 1, 1);
  state.client_address = std::string(kStateAddressBytesMax + 1, 'x');
  gossip_.learn(state);
  EXPECT_EQ(gossip_.find(kA), nullptr);
}

TEST_F(StateGossipTest, NobodyElseChangesTheOwnState) {
  gossip_.learn(state_of(kSelf, 9, 9));
  EXPECT_EQ(gossip_.own(), state_of(kSelf, 3, 0));
}

TEST_F(StateGossipTest, TheOwnVersionRisesWithWhatItSaysAndNotWithTheClock) {
  PeerState own = state_of(kStranger, 77, 55);
  own.wall = 1234;
  gossip_.set_own(own);
  EXPECT_EQ(gossip_.own(), state_of(kSelf, 3, 0));

  own.keys = 12;
  gossip_.set_own(own);
  EXPECT_EQ(gossip_.own().version, 1U);
  EXPECT_EQ(gossip_.own().node, kSelf);
  EXPECT_EQ(gossip_.own().generation, 3U);
  EXPECT_EQ(gossip_.own().wall, 1234U);
}

TEST_F(StateGossipTest, SaysOnceWhoseStateHasChanged) {
  gossip_.learn(state_of(kB, 1, 1));
  gossip_.learn(state_of(kA, 1, 1));
  gossip_.learn(state_of(kA, 1, 1));
  EXPECT_EQ(gossip_.take_changed(), (std::vector<NodeId>{kA, kB}));
  gossip_.learn(state_of(kA, 1, 1));
  EXPECT_TRUE(gossip_.take_changed().empty());
}

TEST_F(StateGossipTest, WhoIsNoLongerAMemberIsForgottenAndTheOthersStay) {
  gossip_.learn(state_of(kA, 1, 1));
  gossip_.learn(state_of(kB, 1, 1));
  gossip_.set_members({kB, kStranger});
  EXPECT_EQ(gossip_.find(kA), nullptr);
  EXPECT_EQ(gossip_.all(), (std::vector<PeerState>{state_of(kSelf, 3, 0), state_of(kB, 1, 1)}));
}

TEST_F(StateGossipTest, AnswersDigestsWithWhatTheyLackAndAsksForWhatIsNewer) {
  gossip_.learn(state_of(kA, 1, 5));
  gossip_.learn(state_of(kB, 1, 5));
  const auto answers = receive(kA, StateDigests{{{kA, 1, 6}, {kB, 1, 4}, {kC, 1, 1}, {kStranger, 1, 1}}});

  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].states, (std::vector<PeerState>{state_of(kB, 1, 5), state_of(kSelf, 3, 0)}));
  EXPECT_EQ(answers[0].wanted, (std::vector<NodeId>{kA, kC}));
}

TEST_F(StateGossipTest, WhoKnowsAnEarlierLifeOfThisNodeHearsOfThisOne) {
  const auto answers = receive(kA, StateDigests{{{kSelf, 2, 8}}});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].states, (std::vector<PeerState>{state_of(kSelf, 3, 0)}));
}

TEST_F(StateGossipTest, DigestsThatNameNothingNewAreNotAnswered) {
  gossip_.learn(state_of(kA, 1, 5));
  EXPECT_TRUE(receive(kA, StateDigests{{{kA, 1, 5}, {kSelf, 3, 0}}}).empty());
}

TEST_F(StateGossipTest, TheOrderOfDigestsDoesNotMatterAndRepeatedOnesCountOnce) {
  gossip_.learn(state_of(kA, 1, 5));
  const auto answers =
      receive(kA, StateDigests{{{kC, 1, 1}, {kSelf, 3, 0}, {kA, 1, 5}, {kC, 1, 1}, {kB, 1, 1}}});
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_TRUE(answers[0].states.empty());
  EXPECT_EQ(answers[0].wanted, (std::vector<NodeId>{kC, kB}));
}

TEST_F(StateGossipTest, SendsWhatIsWantedAndTakesWhatComes) {
  gossip_.learn(state_of(kA, 1, 5));
  const auto answers = receive(kB, StateDeltas{{state_of(kC, 1, 1)}, {kA, kSelf, kA, kB, kStranger}});
  EXPECT_EQ(*gossip_.find(kC), state_of(kC, 1, 1));
  ASSERT_EQ(answers.size(), 1U);
  EXPECT_EQ(answers[0].states, (std::vector<PeerState>{state_of(kA, 1, 5), state_of(kSelf, 3, 0)}));
  EXPECT_TRUE(answers[0].wanted.empty());
}

TEST_F(StateGossipTest, ARoundASecondGoesToAMemberThatIsNotDown) {
  const auto partners = run(seconds(100), {});
  EXPECT_EQ(partners.size(), 3U);
  EXPECT_GE(rounds(partners), 99);
  EXPECT_LE(rounds(partners), 101);
}

TEST_F(StateGossipTest, OneRoundInSeveralAlsoTriesAMemberThatIsDown) {
  auto partners = run(seconds(200), {kB});
  EXPECT_GT(partners[kB], 20);
  EXPECT_LT(partners[kB], 100);
  EXPECT_GE(partners[kA] + partners[kC], 199);
}

TEST_F(StateGossipTest, WithAllOthersDownEachRoundTriesOne) {
  const auto partners = run(seconds(100), {kA, kB, kC});
  EXPECT_EQ(partners.size(), 3U);
  EXPECT_GE(rounds(partners), 99);
}

size_t bytes_of(const StateDeltas& deltas) {
  size_t bytes = 16 * deltas.wanted.size();
  for (const PeerState& state : deltas.states) {
    bytes += 128 + state.peer_address.size() + state.client_address.size();
  }
  return bytes;
}

TEST(StateGossip, AThousandStatesWithTheLongestAddressesGoInMessagesBelowAMebibyte) {
  SeededRandom random(1);
  StateGossip gossip(state_of(kSelf, 1, 0), seconds(1), random);
  std::vector<NodeId> members;
  for (uint64_t i = 0; i < 1000; ++i) members.push_back({1000 + i});
  gossip.set_members(members);
  for (const NodeId node : members) {
    PeerState state = state_of(node, 1, 1);
    state.peer_address = state.client_address = std::string(kStateAddressBytesMax, 'x');
    gossip.learn(state);
  }
  GossipOutbox outbox;
  gossip.on(members[0], StateDigests{}, outbox);
  size_t states = 0;
  for (const auto& envelope : outbox.envelopes()) {
    const auto& deltas = std::get<StateDeltas>(envelope.message);
    EXPECT_LT(bytes_of(deltas), size_t{1} << 20);
    states += deltas.states.size();
  }
  EXPECT_GT(outbox.envelopes().size(), 4U);
  EXPECT_EQ(states, 1001U);
}

// Two worlds in which all know each other, and five changes of one member after each other in each.
TEST(StateGossip, AThousandMembersKnowAChangeWithinFifteenRounds) {
  Duration worst{};
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    LivenessNetwork network({.nodes = 1000, .seed = seed, .tick = milliseconds(50), .detectors = false});
    for (size_t at = 0; at < network.size(); ++at) {
      for (size_t node = 0; node < network.size(); ++node)
        network.gossip(at).learn(network.gossip(node).own());
    }
    network.run_for(seconds(1));
    for (uint64_t change = 1; change <= 5; ++change) {
      StateGossip& source = network.gossip(change * 71);
      PeerState own = source.own();
      own.keys = change;
      source.set_own(own);
      const Duration taken = network.run_until([&] { return network.all_know(source.own()); }, seconds(60));
      EXPECT_LE(taken, seconds(15)) << "seed " << seed << ", change " << change;
      worst = std::max(worst, taken);
    }
  }
  std::cout << "  a change known to 1,000 members: worst " << static_cast<double>(worst.count()) / 1e6
            << " rounds of a second\n";
}

TEST(StateGossip, AThousandStrangersKnowEachOtherWithinFifteenRounds) {
  LivenessNetwork network({.nodes = 1000, .seed = 9, .tick = milliseconds(50), .detectors = false});
  network.run_for(seconds(15));
  for (size_t at = 0; at < network.size(); ++at) EXPECT_EQ(network.gossip(at).all().size(), network.size());
}

}  // namespace
}  // namespace ringkv
