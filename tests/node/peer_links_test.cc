#include "node/peer_links.h"

#include "tests/node/peer_links_transcript.h"

namespace ringkv {
namespace {

// ---- dialing and greeting

TEST_F(PeerLinksTranscript, NobodyIsDialedUntilThereIsSomethingToSay) {
  pass(seconds(5));
  EXPECT_TRUE(transport.dialed.empty());
  send(1);
  EXPECT_EQ(transport.dialed, std::vector<Address>{kAddress});
  send(2);
  EXPECT_EQ(transport.dialed.size(), 1U);
}

TEST_F(PeerLinksTranscript, GreetsWhomItMeansOnTheChannelThatItWants) {
  links.greet(kPeer);
  ASSERT_EQ(transport.dialed.size(), 2U);
  const PeerHello control = connected(1), requests = connected(2);
  EXPECT_EQ(control.to, kPeer);
  EXPECT_EQ(control.node, kSelf);
  EXPECT_EQ(control.channel, PeerChannel::kControl);
  EXPECT_EQ(requests.channel, PeerChannel::kRequests);
}

TEST_F(PeerLinksTranscript, WhatWaitedLeavesInOrderOnceItIsWelcomed) {
  send(1);
  send(2);
  connected(1);
  EXPECT_TRUE(transport.output(1).empty()) << "before the welcome";
  welcome_greeted(1);
  send(3);
  EXPECT_EQ(sent(1), (Numbers{1, 2, 3}));
  EXPECT_EQ(welcomes, (std::vector<std::pair<Boot, Address>>{{kPeerBoot, kAddress}}));
  EXPECT_EQ(reachable, std::vector<NodeId>{kPeer});
}

TEST_F(PeerLinksTranscript, GossipHasAConnectionOfItsOwn) {
  send(1);
  links.send(kPeer, Probe{7, {}}, 3, 17);
  ASSERT_EQ(transport.dialed.size(), 2U);
  welcome(1);
  welcome(2);
  const auto probe = read_frame(transport.output(2), kFrameBytesMax);
  ASSERT_TRUE(probe.ok() && probe->has_value());
  EXPECT_EQ((*probe)->type, FrameType::kProbe);
  EXPECT_EQ(sent(1), Numbers{1});
}

TEST_F(PeerLinksTranscript, AWelcomeMayArriveInPieces) {
  send(1);
  connected(1);
  PeerWelcome welcome = sample_welcome();
  std::string bytes;
  codec.encode(welcome, bytes);
  for (size_t size = 0; size < bytes.size(); ++size) EXPECT_EQ(links.on_bytes(1, bytes.substr(0, size)), 0U);
  EXPECT_EQ(links.on_bytes(1, bytes), bytes.size());
  EXPECT_EQ(sent(1), Numbers{1});
}

TEST_F(PeerLinksTranscript, ANodeOfWhichNobodyKnowsWhereItIsGetsNothing) {
  send(1, kOther);
  links.greet(kOther);
  EXPECT_TRUE(transport.dialed.empty());
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
  EXPECT_TRUE(links.is_reachable(kOther));
}

// ---- unreachable and reachable

TEST_F(PeerLinksTranscript, AFailedDialMakesItUnreachableAndDropsWhatWaited) {
  send(1);
  lose(1);
  ASSERT_EQ(unreachable.size(), 1U);
  EXPECT_EQ(unreachable[0].first, kPeer);
  EXPECT_FALSE(links.is_reachable(kPeer));
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
  send(2);
  EXPECT_EQ(links.statistics().dropped_messages, 2U);
  EXPECT_EQ(transport.dialed.size(), 1U) << "a message to an unreachable node dials nobody";
}

TEST_F(PeerLinksTranscript, ItIsToldOnceAndTriedAgainUntilItReturns) {
  send(1);
  lose(1);
  for (int i = 0; i < 20; ++i) {
    lose(next_attempt());
  }
  EXPECT_EQ(unreachable.size(), 1U);
  welcome(next_attempt());
  EXPECT_EQ(reachable, std::vector<NodeId>{kPeer});
  EXPECT_TRUE(links.is_reachable(kPeer));
  send(3);
  EXPECT_EQ(sent(transport.last), Numbers{3});
}

TEST_F(PeerLinksTranscript, PausesGrowFromATenthOfASecondToTwo) {
  send(1);
  std::vector<Duration> pauses;
  for (int i = 0; i < 8; ++i) {
    const Time failed = clock.now();
    lose(transport.last);
    next_attempt();
    pauses.push_back(clock.now() - failed);
  }
  const std::vector<int> full_ms = {100, 200, 400, 800, 1600, 2000, 2000, 2000};
  for (size_t i = 0; i < pauses.size(); ++i) {
    EXPECT_GE(pauses[i], milliseconds(full_ms[i] / 2)) << i;
    EXPECT_LE(pauses[i], milliseconds(full_ms[i] + 10)) << i;
  }
}

// B114: packets are dropped, nothing comes back.
TEST_F(PeerLinksTranscript, SilenceForASecondIsAFailure) {
  send(1);
  pass(milliseconds(990));
  EXPECT_TRUE(unreachable.empty());
  pass(milliseconds(10));
  EXPECT_EQ(unreachable.size(), 1U);
  EXPECT_FALSE(transport.open.contains(1));

  links.close_all();
  send(2);
  connected(transport.last);
  pass(milliseconds(990));
  EXPECT_EQ(unreachable.size(), 1U);
  pass(milliseconds(10));
  EXPECT_EQ(unreachable.size(), 2U) << "a greeting without an answer";
}

// Silence uses up its pause: attempts don't come ever more seldom than two seconds.
TEST_F(PeerLinksTranscript, ASilentNodeIsTriedEveryTwoSecondsToo) {
  send(1);
  pass(seconds(60));
  EXPECT_GE(transport.dialed.size(), 30U);
  EXPECT_LE(transport.dialed.size(), 61U);
  EXPECT_EQ(unreachable.size(), 1U);
}

TEST_F(PeerLinksTranscript, ALostLinkIsDialedAgainAtOnceAndOnlyThenUnreachable) {
  const ConnectionId first = standing_link();
  lose(first);
  EXPECT_EQ(transport.dialed.size(), 2U);
  EXPECT_TRUE(unreachable.empty());
  EXPECT_TRUE(links.is_reachable(kPeer));
  send(2);
  welcome(transport.last);
  EXPECT_EQ(sent(transport.last), Numbers{2});
  EXPECT_EQ(reachable.size(), 2U) << "what was sent before may be lost";

  pass(seconds(2));
  lose(transport.last);
  lose(transport.last);
  EXPECT_EQ(unreachable.size(), 1U);
}

TEST_F(PeerLinksTranscript, WhoWelcomesAndBreaksOffAgainAndAgainIsNotCalledInATightLoop) {
  send(1);
  const Time start = clock.now();
  for (int i = 0; i < 10; ++i) {
    welcome(transport.last);
    const ConnectionId lost = transport.last;
    lose(lost);
    EXPECT_EQ(transport.last == lost, i > 0) << "at once, once";
    if (i > 0) next_attempt();
  }
  EXPECT_GT(clock.now() - start, seconds(4));
}

TEST_F(PeerLinksTranscript, ALostControlLinkIsDialedAgainAndSaysNothingOfTheNode) {
  links.send(kPeer, Probe{1, {}}, 3, 17);
  lose(1);
  pass(milliseconds(110));
  EXPECT_EQ(transport.dialed.size(), 2U);
  EXPECT_TRUE(unreachable.empty());
  EXPECT_TRUE(links.is_reachable(kPeer));
}

TEST_F(PeerLinksTranscript, AHelloOfAnUnreachableNodeHasItDialedAtOnce) {
  send(1);
  lose(1);
  links.greet(kPeer);
  ASSERT_EQ(transport.dialed.size(), 3U);  // and the control link
  welcome(3);
  EXPECT_TRUE(links.is_reachable(kPeer));
  links.greet(kPeer);
  EXPECT_EQ(transport.dialed.size(), 3U) << "what stands or is being dialed is left alone";
}

TEST_F(PeerLinksTranscript, WhoIsToldMayForgetTheNode) {
  when_unreachable = [this] { links.forget(kPeer); };
  links.greet(kPeer);
  pass(seconds(3));
  EXPECT_EQ(unreachable.size(), 1U);
  EXPECT_EQ(transport.dialed.size(), 2U);
}

TEST_F(PeerLinksTranscript, WhoIsWelcomedMayMeanwhileHaveMovedOrBeForgotten) {
  send(1);
  when_welcomed = [this] { links.set_address(kPeer, "n2:2"); };
  welcome(1);
  EXPECT_TRUE(reachable.empty());
  EXPECT_TRUE(transport.sent(2).empty()) << "not welcomed there yet";
  when_welcomed = [this] { links.forget(kPeer); };
  welcome(2);
  EXPECT_TRUE(reachable.empty());
}

// ---- refusals and strangers

TEST_F(PeerLinksTranscript, ARefusalIsToldAndTriedAgainLater) {
  send(1);
  connected(1);
  refuse(1, forbidden("this life of n1 is over"));
  ASSERT_EQ(refused.size(), 1U);
  EXPECT_EQ(refused[0].second, forbidden("this life of n1 is over"));
  EXPECT_EQ(unreachable.size(), 1U);
  EXPECT_FALSE(transport.open.contains(1));
  pass(milliseconds(110));
  EXPECT_EQ(transport.dialed.size(), 2U);
  welcome(transport.last);
  EXPECT_EQ(reachable.size(), 1U);
}

// It may have been meant for a life before this one; a greeting is judged for itself.
TEST_F(PeerLinksTranscript, WhatEndsAStandingConnectionIsNoVerdict) {
  const ConnectionId connection = standing_link();
  refuse(connection, forbidden("this life of n1 is over"));
  EXPECT_TRUE(refused.empty());
  connected(transport.last);
  refuse(transport.last, forbidden("this life of n1 is over"));
  EXPECT_EQ(refused.size(), 1U);
}

// B30: two nodes advertise one address.
TEST_F(PeerLinksTranscript, AnotherNodeAtItsAddressIsNotTakenForIt) {
  send(1);
  welcome(1, kOther);
  EXPECT_TRUE(welcomes.empty());
  EXPECT_FALSE(links.is_reachable(kPeer));
  EXPECT_FALSE(transport.open.contains(1));
  EXPECT_TRUE(transport.sent(1).empty());
}

TEST_F(PeerLinksTranscript, AWelcomeThatIsNotAcceptedEndsTheLink) {
  accept_welcome = false;
  send(1);
  welcome(1);
  EXPECT_FALSE(links.is_reachable(kPeer));
  EXPECT_TRUE(transport.sent(1).empty());
  accept_welcome = true;
  pass(milliseconds(110));
  welcome(transport.last);
  EXPECT_TRUE(links.is_reachable(kPeer));
}

TEST_F(PeerLinksTranscript, WhateverElseComesBackEndsTheLink) {
  std::string probe, large(8, '\xFF');
  ASSERT_TRUE(codec.encode(Probe{1, {}}, {}, clock.now(), probe).ok());
  for (const std::string& bytes : {probe, large, std::string("HTTP/1.1 400 Bad Request\r\n")}) {
    links.close_all();
    send(1);
    welcome(transport.last);
    const ConnectionId connection = transport.last;
    links.on_bytes(connection, bytes);
    EXPECT_FALSE(transport.open.contains(connection));
  }
  links.close_all();
  send(1);
  welcome(transport.last);
  welcome_greeted(transport.last);
  EXPECT_FALSE(links.is_reachable(kPeer));
}

// ---- addresses

TEST_F(PeerLinksTranscript, AChangedAddressIsDialedAnewAndWhatWaitsGoesThere) {
  const ConnectionId old = standing_link();
  links.set_address(kPeer, kAddress);
  EXPECT_EQ(transport.dialed.size(), 1U);
  links.set_address(kPeer, "n2:2");
  EXPECT_FALSE(transport.open.contains(old));
  EXPECT_EQ(transport.dialed, (std::vector<Address>{kAddress, "n2:2"}));
  send(5);
  welcome(transport.last);
  EXPECT_EQ(sent(transport.last), Numbers{5});
  EXPECT_EQ(unreachable.size(), 0U);
}

TEST_F(PeerLinksTranscript, AForgottenNodeIsHungUpAndDialedNoMore) {
  const ConnectionId connection = standing_link();
  links.forget(kPeer);
  EXPECT_FALSE(transport.open.contains(connection));
  send(2);
  pass(seconds(5));
  EXPECT_EQ(transport.dialed.size(), 1U);
}

TEST_F(PeerLinksTranscript, AfterCloseAllItStartsAnewWithTheSameAddresses) {
  const ConnectionId connection = standing_link();
  links.close_all();
  EXPECT_FALSE(transport.open.contains(connection));
  pass(seconds(5));
  EXPECT_EQ(transport.dialed.size(), 1U);
  send(2);
  EXPECT_EQ(transport.dialed.size(), 2U);
  welcome(transport.last);
  EXPECT_EQ(sent(transport.last), Numbers{2});
}

// ---- bounds (I13)

TEST_F(PeerLinksTranscript, WhatWaitsIsBoundedInNumber) {
  for (RequestNumber i = 0; i < kLinkWaitingMessagesMax + 5; ++i) send(i);
  EXPECT_EQ(links.statistics().dropped_messages, 5U);
  welcome(1);
  EXPECT_EQ(sent(1).size(), kLinkWaitingMessagesMax);
}

// One more may begin below the bound, so that even the largest fits.
TEST_F(PeerLinksTranscript, WhatWaitsIsBoundedInBytes) {
  send_large(kLinkHeldBytesMax / 2);
  send_large(kLinkHeldBytesMax / 2 - 1000);
  send_large(size_t{16} << 20);
  send(3);
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
}

TEST_F(PeerLinksTranscript, UnsentOutputIsBoundedAndWhatHasBegunToLeaveStays) {
  const ConnectionId connection = standing_link();
  send(2);
  transport.unsent = kLinkHeldBytesMax + 1;
  send(3);
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
  transport.unsent = kLinkHeldBytesMax;
  send(4);
  EXPECT_EQ(sent(connection), (Numbers{2, 4}));
}

TEST_F(PeerLinksTranscript, AllLinksTogetherAreBoundedToo) {
  transport.unsent = size_t{20} << 20;
  for (uint64_t node = 1; node <= 14; ++node) {
    links.set_address(NodeId{node}, "n:1");
    send(1, NodeId{node});
    welcome(transport.last, NodeId{node});
  }
  links.on_tick(clock.now());  // counts 280 MiB
  send(2, NodeId{1});
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
  transport.unsent = 0;
  links.on_tick(clock.now());
  send(3, NodeId{1});
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
}

TEST_F(PeerLinksTranscript, WhatCannotBeSentAtAllIsDroppedAndTheLinkStays) {
  const ConnectionId connection = standing_link();
  send_large(kPeerMessageBytesMax);
  EXPECT_EQ(links.statistics().dropped_messages, 1U);
  send(2);
  EXPECT_EQ(sent(connection), Numbers{2});
}

// ---- faults

TEST_F(PeerLinksTranscript, ToADroppedNodeNothingLeavesAndItsLinkStays) {
  const ConnectionId connection = standing_link();
  faults.drop(kPeer);
  send(2);
  refuse(connection, forbidden("not heard"));
  pass(seconds(5));
  EXPECT_TRUE(transport.output(connection).empty());
  EXPECT_TRUE(refused.empty());
  EXPECT_TRUE(links.is_reachable(kPeer)) << "that is for the failure detector to find out";
  faults.heal();
  send(3);
  EXPECT_EQ(sent(connection), Numbers{3});
}

TEST_F(PeerLinksTranscript, ADialToADroppedNodeLooksLikeSilence) {
  faults.drop(kPeer);
  links.greet(kPeer);
  pass(milliseconds(990));
  EXPECT_TRUE(unreachable.empty());
  pass(milliseconds(10));
  EXPECT_EQ(unreachable.size(), 1U);
  EXPECT_TRUE(transport.dialed.empty());
  faults.heal();
  pass(seconds(3));
  ASSERT_FALSE(transport.dialed.empty());
}

TEST_F(PeerLinksTranscript, AWelcomeOfANodeThatIsDroppedMeanwhileIsNotHeard) {
  send(1);
  faults.drop(kPeer);
  links.on_connected(1);
  EXPECT_TRUE(transport.output(1).empty());
  welcome_greeted(1);
  EXPECT_TRUE(welcomes.empty());
  pass(seconds(1));
  EXPECT_EQ(unreachable.size(), 1U);
}

TEST_F(PeerLinksTranscript, DelayedMessagesLeaveLaterAndInOrder) {
  const ConnectionId connection = standing_link();
  faults.delay(kPeer, milliseconds(50));
  send(2);
  pass(milliseconds(20));
  send(3);
  pass(milliseconds(20));
  EXPECT_TRUE(transport.output(connection).empty());
  pass(milliseconds(10));
  EXPECT_EQ(sent(connection), Numbers{2});
  faults.heal();
  send(4);
  EXPECT_TRUE(transport.output(connection).empty()) << "overtakes nobody";
  pass(milliseconds(20));
  EXPECT_EQ(sent(connection), (Numbers{3, 4}));
  send(5);
  EXPECT_EQ(sent(connection), Numbers{5});
}

}  // namespace
}  // namespace ringkv
