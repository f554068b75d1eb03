// Which node a request goes to: while all is well, and while some of it isn't.
#include "node/client_router.h"

#include "tests/node/client_ring_transcript.h"

namespace ringkv {
namespace {

// ---- owners

TEST_F(ClientRingTranscript, PutsAndGetsGoToTheFirstOwnerOfTheirKeyUnderTheEpochThatLedThere) {
  know_all();
  submit_put(key_of(2));
  submit_get(key_of(3));
  submit(ClientGet{"", key_of(1), 0, false});
  for (const uint64_t node : {2, 3, 1}) {
    const Sent request = sent_one_to(node);
    EXPECT_EQ(request.epoch, 5U) << "n" << node;
  }
}

TEST_F(ClientRingTranscript, EverythingElseGoesToTheGivenNode) {
  know_all();
  submit(ClientStatus{});
  submit(ClientExplain{"", key_of(2)});
  submit(ClientLocalGet{"n3", "", key_of(3)});
  submit(ClientScan{});
  const std::vector<Sent> requests = sent_to(1);
  ASSERT_EQ(requests.size(), 4U);
  EXPECT_EQ(requests[0].epoch, 0U);
}

TEST_F(ClientRingTranscript, WhileTheFirstOwnerIsBeingConnectedTheNextServes) {
  know_ring();
  EXPECT_FALSE(is_dialed("n3:1")) << "before it is needed";
  submit_get(key_of(3));
  EXPECT_TRUE(is_dialed("n3:1"));
  EXPECT_EQ(sent_one_to(1).epoch, 5U) << "n1 is its second owner";
  serve(3);
  submit_get(key_of(3));
  (void)sent_one_to(3);
}

TEST_F(ClientRingTranscript, WithoutAnOwnerThatCanBeReachedTheGivenNodeForwards) {
  know_ring();
  submit_get(key_of(2));
  const Sent request = sent_one_to(1);
  EXPECT_EQ(request.epoch, 0U);
  EXPECT_TRUE(is_dialed("n2:1"));
  EXPECT_TRUE(is_dialed("n3:1"));
}

TEST_F(ClientRingTranscript, AnOwnerThatCannotBeConnectedIsPassedOverAndTriedAgainWithinTheSecond) {
  know_ring();
  Time refused{};
  submit_get(key_of(3));
  for (int i = 0; i < 8; ++i) {
    speak_for("n3:1");
    fail_connect();
    refused = clock.now();
    const size_t before = dials("n3:1");
    while (dials("n3:1") == before) {
      const size_t get = submit_get(key_of(3));
      for (const Sent& request : sent_to(1)) answer_from(1, request.number, {}, GetResult{});
      EXPECT_TRUE(replies[get].has_value());
      pass(milliseconds(10));
    }
    EXPECT_LE(clock.now() - refused, milliseconds(1010));
    EXPECT_GE(clock.now() - refused, milliseconds(20));
  }
  EXPECT_GE(clock.now() - refused, milliseconds(500)) << "not in a tight loop";
  serve(3);
  submit_get(key_of(3));
  (void)sent_one_to(3);
}

TEST_F(ClientRingTranscript, AMemberWithoutAUsableAddressIsNotUsed) {
  addresses[1].address = "";
  addresses[2].address = "nonsense";
  know_ring();
  submit_get(key_of(2));
  submit_get(key_of(3));
  EXPECT_EQ(sent_to(1).size(), 2U);
  EXPECT_EQ(transport.dialed.size(), 1U);
}

// Whatever it advertises: the given address is known to work from here.
TEST_F(ClientRingTranscript, AGivenNodeIsUsedUnderTheAddressByWhichItWasGiven) {
  addresses[0].address = "10.0.0.1:7401";
  know_ring();
  submit_get(key_of(1));
  EXPECT_EQ(sent_one_to(1).epoch, 5U);
  EXPECT_FALSE(is_dialed("10.0.0.1:7401"));
}

TEST_F(ClientRingTranscript, WithOneNodeGivenTheOthersServeWhenItIsGone) {
  know_all();
  speak_for("n1:1");
  break_connection();
  submit(ClientStatus{});
  submit_get(key_of(1));
  EXPECT_EQ(sent_to(2).size(), 2U) << "n2 is the second owner";
  pass(milliseconds(60));
  submit_get(key_of(1));
  EXPECT_EQ(sent_to(2).size(), 1U);
  EXPECT_EQ(dials("n1:1"), 2U);
  serve(1);
  submit_get(key_of(1));
  (void)sent_one_to(1);
}

TEST_F(ClientRingTranscript, AGivenNodeThatServesAlreadyTakesThePlaceOfOneThatIsGone) {
  make({.nodes = {"n1:1", "n3:1"}});
  know_all();
  speak_for("n1:1");
  break_connection();
  submit(ClientStatus{});
  pass(milliseconds(60));
  submit(ClientStatus{});
  speak_for("n1:1");
  fail_connect();
  EXPECT_EQ(pool->node(), "n3:1");
  EXPECT_EQ(dials("n3:1"), 1U);
  (void)sent_to(3);
  submit(ClientStatus{});
  EXPECT_EQ(sent_to(3).size(), 1U);
  break_connection();
  pass(milliseconds(60));
  submit(ClientStatus{});
  EXPECT_EQ(dials("n3:1"), 2U);
}

TEST_F(ClientRingTranscript, WithoutRoutingOnlyTheGivenNodesAreAsked) {
  make({.nodes = {"n1:1", "n2:1"}, .route = false});
  pool->connect([](const Status&) {});
  serve(1);
  EXPECT_TRUE(sent_to(1).empty()) << "no question for the ring";
  epoch = 9;
  for (const uint64_t first : {1, 2, 3}) {
    submit_put(key_of(first));
    const Sent put = sent_one_to(1);
    EXPECT_EQ(put.epoch, 0U);
    answer_from(1, put.number, {}, PutReceipt{});
  }
  pass(seconds(3));
  EXPECT_EQ(transport.dialed.size(), 1U);
  EXPECT_EQ(pool->routes(), nullptr);
}

TEST_F(ClientRingTranscript, SeveralConnectionsToANodeAreUsedInTurn) {
  make({.nodes = {"n1:1"}, .connections = 3, .route = false});
  pool->connect([](const Status&) {});
  EXPECT_EQ(dials("n1:1"), 3U);
  std::set<uint64_t> places;
  for (talking_to = 1; talking_to <= 3; ++talking_to) {
    pool->on_connected(talking_to);
    const auto hello = read_frame(transport.output(talking_to), kUnauthenticatedFrameBytesMax);
    places.insert(codec.decode_hello(**hello)->client);
    transport.output(talking_to).clear();
    std::string bytes;
    codec.encode(Welcome{kProtocolVersion, kCluster, {1}, "n1", kBoot}, 1, bytes);
    receive(bytes);
  }
  EXPECT_EQ(places.size(), 3U) << "each greets under a name of its own";
  for (int i = 0; i < 9; ++i) submit_get();
  for (talking_to = 1; talking_to <= 3; ++talking_to) EXPECT_EQ(sent().size(), 3U);
}

TEST_F(ClientRingTranscript, AMemberThatLeftIsHungUpWhenNothingWaitsForIt) {
  know_all();
  const size_t get = submit_get(key_of(3));
  const Sent asked = sent_one_to(3);
  const ConnectionId to_n3 = talking_to;
  ring.epoch = epoch = 6;
  ring.members.pop_back();
  addresses.pop_back();
  for (uint16_t& owner : ring.owners) owner %= 2;
  submit_get(key_of(2));
  answer_from(2, sent_one_to(2).number, {}, GetResult{});
  tell_ring(2);
  pass(milliseconds(20));
  EXPECT_TRUE(transport.open.contains(to_n3));
  answer_from(3, asked.number, {}, GetResult{});
  EXPECT_TRUE(replies[get].has_value());
  pass(milliseconds(20));
  EXPECT_FALSE(transport.open.contains(to_n3));
}

// ---- refusals

TEST_F(ClientRingTranscript, WhatOneOwnerRefusesIsTriedAtTheNext) {
  know_all();
  for (const Status& refusal : {overloaded("busy"), unavailable("no quorum here")}) {
    const size_t put = submit_put(key_of(2));
    const Sent first = sent_one_to(2);
    answer_from(2, first.number, refusal);
    pass(milliseconds(60));
    const Sent second = sent_one_to(3);
    EXPECT_NE(second.put().operation, first.put().operation);
    EXPECT_FALSE(second.put().first_tried);
    answer_from(3, second.number, {}, PutReceipt{});
    EXPECT_TRUE(replies[put]->status.ok());
  }
}

// ---- lost connections

TEST_F(ClientRingTranscript, AReadGoesToTheNextOwnerAtOnceWhenItsConnectionIsLost) {
  know_all();
  const size_t get = submit_get(key_of(2));
  (void)sent_one_to(2);
  break_connection();
  answer_from(3, sent_one_to(3).number, {}, GetResult{{"v"}, {}, 5, false});
  EXPECT_TRUE(replies[get]->status.ok());
}

TEST_F(ClientRingTranscript, APutWaitsForTheBootThatMayHaveItWhileOthersGoElsewhere) {
  know_all();
  const size_t put = submit_put(key_of(2));
  const Sent first = sent_one_to(2);
  break_connection();
  submit_put(key_of(2, 1));
  EXPECT_EQ(sent_one_to(3).put().key, key_of(2, 1));

  pass(milliseconds(60));
  serve(2);
  const Sent again = sent_one_to(2);
  EXPECT_EQ(again.put().operation, first.put().operation);
  EXPECT_EQ(again.put().first_tried, boot_of(2));
  answer_from(2, again.number, {}, PutReceipt{});
  EXPECT_TRUE(replies[put]->status.ok());
}

TEST_F(ClientRingTranscript, APutGoesElsewhereAsARepetitionWhenItsNodeRefusesConnections) {
  know_all();
  const size_t put = submit_put(key_of(2));
  const Sent first = sent_one_to(2);
  break_connection();
  pass(milliseconds(60));
  speak_for("n2:1");
  fail_connect();
  const Sent elsewhere = sent_one_to(3);
  EXPECT_EQ(elsewhere.put().operation, first.put().operation);
  EXPECT_EQ(elsewhere.put().first_tried, boot_of(2));
  answer_from(3, elsewhere.number, {}, PutReceipt{});
  EXPECT_TRUE(replies[put]->status.ok());
}

TEST_F(ClientRingTranscript, AGivenOperationGoesToTheBootThatItNames) {
  know_all();
  ClientPut put;
  put.key = key_of(2);
  put.operation = {7, 9};
  put.first_tried = boot_of(1);
  submit(put);
  EXPECT_EQ(sent_one_to(1).put().operation, (OperationId{7, 9}));
}

// A put that was forwarded is answered under the boot that took it, which isn't that of the connection's
// node.
TEST_F(ClientRingTranscript, AForwardedPutsBootIsNotTakenForTheNodes) {
  know_ring();
  const size_t first = submit_put(key_of(2));
  answer_from(1, sent_one_to(1).number, {}, PutReceipt{});
  submit_put(key_of(2));
  const Sent forwarded = sent_one_to(1);
  speak_for("n1:1");
  answer(forwarded.number, {}, PutReceipt{}, boot_of(2));
  submit_put(key_of(2));
  (void)sent_one_to(1);
  break_connection();
  pass(milliseconds(60));
  serve(1);
  EXPECT_EQ(sent_one_to(1).put().first_tried, boot_of(1));
  EXPECT_TRUE(replies[first]->status.ok());
}

// ---- answers

TEST_F(ClientRingTranscript, ANodeThatAnswersWhatAnotherWasAskedLosesItsConnection) {
  know_all();
  const size_t get = submit_get(key_of(2));
  const Sent request = sent_one_to(2);
  answer_from(3, request.number, {}, GetResult{{"not asked"}, {}, 5, false});
  EXPECT_FALSE(replies[get].has_value());
  EXPECT_EQ(transport.closed.size(), 1U);
  answer_from(2, request.number, {}, GetResult{{"asked"}, {}, 5, false});
  EXPECT_EQ(std::get<GetResult>(replies[get]->body).values[0], "asked");
}

// ---- silence (row B114)

TEST_F(ClientRingTranscript, ReadsLeaveASilentNodeEarlyAndNothingNewGoesThere) {
  know_all();
  const size_t get = submit_get(key_of(2));
  const size_t put = submit_put(key_of(2, 1));
  EXPECT_EQ(sent_to(2).size(), 2U);
  pass(milliseconds(500));
  EXPECT_TRUE(sent_to(2).empty());
  EXPECT_EQ(asked_when_quiet.size(), 1U);
  answer_from(3, sent_one_to(3).number, {}, GetResult{{"v"}, {}, 5, false});
  EXPECT_TRUE(replies[get]->status.ok());
  EXPECT_FALSE(replies[put].has_value()) << "a write may have arrived";

  submit_put(key_of(2, 2));
  EXPECT_EQ(sent_one_to(3).put().key, key_of(2, 2));
}

TEST_F(ClientRingTranscript, ASilentNodeThatIsHeardAgainIsUsedAgain) {
  know_all();
  const size_t put = submit_put(key_of(2));
  const Sent request = sent_one_to(2);
  pass(milliseconds(1500));
  answer_from(2, request.number, {}, PutReceipt{});
  EXPECT_TRUE(replies[put]->status.ok());
  submit_get(key_of(2));
  EXPECT_EQ(sent_to(2).size(), 1U);
  EXPECT_EQ(dials("n2:1"), 1U);
}

TEST_F(ClientRingTranscript, ANodeThatIsOnlySlowKeepsItsRequestsAndItsConnection) {
  know_all();
  const size_t get = submit_get(key_of(2));
  speak_for("n2:1");
  const Sent request = sent_one_to(2);
  pass_on_a_slow_node(milliseconds(4500));
  EXPECT_TRUE(sent_to(3).empty());
  answer_from(2, request.number, {}, GetResult{{"v"}, {}, 5, false});
  EXPECT_TRUE(replies[get]->status.ok());
  EXPECT_EQ(dials("n2:1"), 1U);
}

// The put is first offered to the boot that may have it, then elsewhere; it ends by its deadline.
TEST_F(ClientRingTranscript, ANodeThatStaysSilentIsGivenUpAndItsWritesStayHonest) {
  know_all();
  const size_t put = submit_put(key_of(2));
  const Sent first = sent_one_to(2);
  const ConnectionId silent = talking_to;
  pass(seconds(2));
  EXPECT_FALSE(transport.open.contains(silent));
  pass(milliseconds(60));
  EXPECT_EQ(dials("n2:1"), 2U);
  EXPECT_TRUE(sent_to(3).empty());
  pass(seconds(1));
  const Sent elsewhere = sent_one_to(3);
  EXPECT_EQ(elsewhere.put().operation, first.put().operation);
  EXPECT_EQ(elsewhere.put().first_tried, boot_of(2));
  answer_from(3, elsewhere.number, unknown_outcome("never heard of it"));
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
}

TEST_F(ClientRingTranscript, RequestsWithShortDeadlinesFindASilentNodeToo) {
  know_all();
  for (int i = 0; i < 3; ++i) {
    submit_get(key_of(2), milliseconds(200));
    (void)sent_to(2);
    pass(milliseconds(200));
  }
  (void)sent_to(3);
  submit_get(key_of(2), milliseconds(200));
  EXPECT_EQ(sent_to(3).size(), 1U);
}

TEST_F(ClientRingTranscript, ALoopThatWasHeldUpBlamesNobody) {
  know_all();
  submit_get(key_of(2));
  (void)sent_one_to(2);
  clock.advance(seconds(3));
  pool->on_tick(clock.now());
  pass(milliseconds(100));
  EXPECT_TRUE(sent_to(3).empty());
  EXPECT_EQ(dials("n2:1"), 1U);
}

// Two vanish: the third answers within the time of finding both, one after another.
TEST_F(ClientRingTranscript, AReadFindsTheNodeThatIsLeft) {
  know_all();
  const size_t get = submit_get(key_of(2));
  (void)sent_one_to(2);
  pass(milliseconds(500));
  (void)sent_one_to(3);
  pass(milliseconds(500));
  answer_from(1, sent_one_to(1).number, {}, GetResult{{"v"}, {}, 5, false});
  EXPECT_TRUE(replies[get]->status.ok());
}

}  // namespace
}  // namespace ringkv
