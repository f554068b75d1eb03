// How a client learns the ring, and learns it anew.
#include "node/client_pool.h"

#include "tests/node/client_ring_transcript.h"

namespace ringkv {
namespace {

TEST_F(ClientRingTranscript, AsksTheFirstNodeForTheRingAndIsConnectedWhenItKnows) {
  std::optional<Status> ready;
  pool->connect([&](const Status& status) { ready = status; });
  serve(1);
  EXPECT_FALSE(ready.has_value());
  tell_ring(1);
  ASSERT_TRUE(ready.has_value());
  EXPECT_TRUE(ready->ok());
  ASSERT_NE(pool->routes(), nullptr);
  EXPECT_EQ(pool->routes()->names_of_owners("", key_of(2)), (std::vector<std::string>{"n2", "n3"}));
  pass(seconds(5));
  EXPECT_TRUE(sent_to(1).empty()) << "nothing to ask again";
}

TEST_F(ClientRingTranscript, ARingThatCannotBeHadDoesNotKeepTheClientFromServing) {
  for (const int how : {0, 1, 2}) {
    make({.nodes = {"n1:1"}});
    std::optional<Status> ready;
    pool->connect([&](const Status& status) { ready = status; });
    talking_to = 0;
    welcome(boot_of(1));
    const Sent asked = sent_one();
    if (how == 0) answer(asked.number, invalid_argument("what is that?"));
    if (how == 1) answer(asked.number, {}, RoutingTable{"no ring", {}});
    if (how == 2) pass_on_a_slow_node(milliseconds(1000));
    ASSERT_TRUE(ready.has_value()) << how;
    EXPECT_TRUE(ready->ok());
    submit_get("k");
    const Sent get = sent_one();
    EXPECT_EQ(get.epoch, 0U);
    answer(get.number, {}, GetResult{});
    pass(milliseconds(1010));
    EXPECT_TRUE(std::holds_alternative<ClientRouting>(sent_one().request.body)) << "asked again";
  }
}

TEST_F(ClientRingTranscript, ANewerEpochInAnAnswerHasTheRingFetchedOnceWhileRequestsGoOn) {
  know_all();
  submit_get(key_of(2));
  submit_get(key_of(3));
  const Sent second = sent_one_to(2);
  const Sent third = sent_one_to(3);
  ring.epoch = epoch = 6;
  std::rotate(ring.owners.begin(), ring.owners.begin() + 1, ring.owners.end());
  answer_from(2, second.number, {}, GetResult{});
  answer_from(3, third.number, {}, GetResult{});
  EXPECT_TRUE(sent_to(3).empty()) << "one question at a time";

  submit_get(key_of(1));
  EXPECT_EQ(sent_one_to(1).epoch, 5U) << "by the old ring";
  tell_ring(2);
  EXPECT_EQ(pool->routes()->epoch(), 6U);
  submit_get(key_of(1));
  EXPECT_EQ(sent_one_to(2).epoch, 6U);
}

TEST_F(ClientRingTranscript, AnOlderEpochInAnAnswerChangesNothing) {
  know_all();
  submit_get(key_of(2));
  epoch = 4;
  answer_from(2, sent_one_to(2).number, {}, GetResult{});
  EXPECT_TRUE(sent_to(2).empty());
}

TEST_F(ClientRingTranscript, AnOlderRingOrAnotherClustersIsNotTaken) {
  know_all();
  for (const bool other_cluster : {false, true}) {
    submit_get(key_of(2));
    epoch = 9;
    ring.epoch = other_cluster ? 9 : 4;
    if (other_cluster) ring.cluster = ClusterId{0xBAD};
    answer_from(2, sent_one_to(2).number, {}, GetResult{});
    epoch = 5;
    tell_ring(2);
    EXPECT_EQ(pool->routes()->epoch(), 5U);
    pass(milliseconds(60));
  }
}

// A node that speaks of an epoch that it doesn't hand out is not asked without end.
TEST_F(ClientRingTranscript, QuestionsForTheRingKeepAPause) {
  know_all();
  epoch = 6;
  size_t asked = 0;
  for (int i = 0; i < 100; ++i) {
    submit_get(key_of(2));
    for (const Sent& request : sent_to(2)) {
      const bool routing = std::holds_alternative<ClientRouting>(request.request.body);
      asked += routing ? 1 : 0;
      answer_from(2, request.number, {},
                  routing ? ClientReply::Body(table()) : ClientReply::Body(GetResult{}));
    }
    pass(milliseconds(10));
    for (const Sent& request : sent_to(1)) {
      ++asked;
      answer_from(1, request.number, {}, table());
    }
  }
  EXPECT_GE(asked, 5U);
  EXPECT_LE(asked, 21U);
}

TEST_F(ClientRingTranscript, AStaleRequestIsRepeatedAtOnceByTheNewRing) {
  know_all();
  const size_t put = submit_put(key_of(1));
  const Sent first = sent_one_to(1);
  ring.epoch = epoch = 6;
  std::rotate(ring.owners.begin(), ring.owners.begin() + 1, ring.owners.end());
  answer_from(1, first.number, Status(StatusCode::kStaleEpoch, "epoch 5 is over"));
  tell_ring(1);
  const Sent again = sent_one_to(2);
  EXPECT_EQ(again.epoch, 6U);
  EXPECT_FALSE(again.put().first_tried) << "nothing was written";
  EXPECT_NE(again.put().operation, first.put().operation);
  answer_from(2, again.number, {}, PutReceipt{});
  EXPECT_TRUE(replies[put]->status.ok());
}

TEST_F(ClientRingTranscript, ARequestThatStaysStaleEndsByItsDeadline) {
  know_all();
  const size_t put = submit_put(key_of(1));
  size_t asked = 0;
  for (int i = 0; i < 510 && !replies[put].has_value(); ++i) {
    for (const uint64_t node : {1, 2}) {
      for (const Sent& request : sent_to(node)) {
        const bool routing = std::holds_alternative<ClientRouting>(request.request.body);
        asked += routing ? 0 : 1;
        answer_from(node, request.number,
                    routing ? Status() : Status(StatusCode::kStaleEpoch, "epoch 5 is over"),
                    routing ? ClientReply::Body(table()) : ClientReply::Body());
      }
    }
    pass(milliseconds(10));
  }
  ASSERT_TRUE(replies[put].has_value());
  EXPECT_EQ(code(put), StatusCode::kStaleEpoch);
  EXPECT_GE(asked, 5U);
  EXPECT_LE(asked, 20U);
}

TEST_F(ClientRingTranscript, AnAddressThatIsNotKnownYetIsAskedForAgainEverLessOften) {
  addresses[2].address = "";
  know_ring();
  std::vector<Time> asked;
  for (int i = 0; i < 2000; ++i) {
    pass(milliseconds(10));
    for (const Sent& request : sent_to(1)) {
      asked.push_back(clock.now());
      answer_from(1, request.number, {}, table());
    }
  }
  ASSERT_GE(asked.size(), 3U);
  EXPECT_LE(asked.size(), 5U);
  EXPECT_GE(asked[2] - asked[1], milliseconds(3900));

  addresses[2].address = "n3:1";
  while (sent_to(1).empty()) pass(milliseconds(10));
}

TEST_F(ClientRingTranscript, ANodeThatMovedIsFoundAtItsNewAddress) {
  know_all();
  speak_for("n2:1");
  break_connection();
  addresses[1].address = "n2:2";
  bool found = false;
  for (int i = 0; i < 500 && !found; ++i) {
    submit_get(key_of(2));
    pass(milliseconds(10));
    if (transport.dialed.back() == "n2:1" && transport.open.contains(transport.last)) {
      talking_to = 0;
      fail_connect();
    }
    for (const uint64_t node : {1, 3}) {
      for (const Sent& request : sent_to(node)) {
        const bool routing = std::holds_alternative<ClientRouting>(request.request.body);
        answer_from(node, request.number, {},
                    routing ? ClientReply::Body(table()) : ClientReply::Body(GetResult{}));
      }
    }
    found = is_dialed("n2:2");
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace ringkv
