// How a client carries requests and keeps their deadlines, and the order of its writes.
#include "node/client_requests.h"

#include "storage/record_codec.h"
#include "tests/node/client_transcript.h"

namespace ringkv {
namespace {

// ---- requests

TEST_F(ClientTranscript, RequestsArePipelinedAndAnswersFindTheirsInAnyOrder) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t first = submit_get("a");
  const size_t second = submit_get("b");
  const std::vector<Sent> requests = sent();
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_NE(requests[0].number, requests[1].number);

  answer(requests[1].number, {}, GetResult{{"2"}, {}, 1, false});
  EXPECT_FALSE(replies[first].has_value());
  answer(requests[0].number, {}, GetResult{{"1"}, {}, 1, false});

  EXPECT_EQ(std::get<GetResult>(replies[first]->body).values[0], "1");
  EXPECT_EQ(std::get<GetResult>(replies[second]->body).values[0], "2");
}

TEST_F(ClientTranscript, ARequestBeforeAnyNodeServesIsSentOnceOneDoes) {
  const size_t get = submit_get();
  EXPECT_EQ(transport.dialed.size(), 1U);
  welcome();
  answer(sent_one().number, not_found("no"), {});
  EXPECT_EQ(code(get), StatusCode::kNotFound);
}

TEST_F(ClientTranscript, EachPutHasAnOperationOfItsOwnAndTheReceiptNamesIt) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t first = submit_put("a");
  submit_put("b");
  const std::vector<Sent> requests = sent();
  EXPECT_NE(requests[0].put().operation, requests[1].put().operation);
  EXPECT_EQ(requests[0].put().operation.client, requests[1].put().operation.client);
  EXPECT_FALSE(requests[0].put().first_tried);

  answer(requests[0].number, {}, PutReceipt{});
  EXPECT_EQ(std::get<PutReceipt>(replies[first]->body).operation_id,
            to_text({requests[0].put().operation, kBoot}));
}

TEST_F(ClientTranscript, WhatIsTooLongOrEmptyIsRefusedBeforeItIsSent) {
  pool->connect([](const Status&) {});
  welcome();
  ClientPut put;
  put.key = "k";
  put.value.assign(kValueBytesMax + 1, 'v');
  EXPECT_EQ(code(submit(put)), StatusCode::kTooLarge);
  EXPECT_EQ(code(submit_get(std::string(kKeyBytesMax + 1, 'k'))), StatusCode::kTooLarge);
  EXPECT_EQ(code(submit_get("")), StatusCode::kInvalidArgument);
  EXPECT_EQ(code(submit_get("k", Duration(0))), StatusCode::kInvalidArgument);
  put.value.clear();
  put.context = std::string(kFrameBytesMax, 'c');
  EXPECT_EQ(code(submit(put)), StatusCode::kTooLarge);
  EXPECT_TRUE(sent().empty());

  answer((submit_put(), sent_one().number), {}, PutReceipt{});
  EXPECT_TRUE(replies.back()->status.ok());
}

TEST_F(ClientTranscript, MoreRequestsThanAllowedAreRefusedUntilSomeAreAnswered) {
  make({.nodes = {"n1:1"}, .requests_max = 2, .route = false});
  pool->connect([](const Status&) {});
  welcome();
  submit_get();
  submit_get();
  EXPECT_EQ(code(submit_get()), StatusCode::kOverloaded);
  answer(sent()[0].number, not_found(""));
  EXPECT_FALSE(replies[submit_get()].has_value());
}

TEST_F(ClientTranscript, AConnectionThatIsFullIsWaitedFor) {
  pool->connect([](const Status&) {});
  welcome();
  transport.unsent = kUnsentBytesMax + 1;
  submit_get();
  EXPECT_TRUE(sent().empty());
  transport.unsent = 0;
  pass(milliseconds(10));
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(ClientTranscript, AReplyInPartsIsPutTogether) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  GetResult result;
  result.values = {std::string(kValueBytesMax, 'a'), std::string(kValueBytesMax, 'b')};
  answer(sent_one().number, {}, result);
  ASSERT_TRUE(replies[get].has_value());
  EXPECT_EQ(std::get<GetResult>(replies[get]->body).values, result.values);
}

// ---- time

TEST_F(ClientTranscript, AGetThatTimesOutSaysSo) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  pass_on_a_slow_node(milliseconds(4990));
  EXPECT_FALSE(replies[get].has_value());
  pass(milliseconds(10));
  ASSERT_TRUE(replies[get].has_value());
  EXPECT_EQ(replies[get]->status, unavailable("key 'k': timed out after 5 s, n1:1 didn't answer"));
}

TEST_F(ClientTranscript, TheNodeIsGivenALittleLessTimeThanIsLeft) {
  submit_get();
  pass(milliseconds(500));
  welcome();
  const Duration timeout = sent_one().request.timeout;
  EXPECT_LE(timeout, milliseconds(4500));
  EXPECT_GE(timeout, milliseconds(4200));
}

TEST_F(ClientTranscript, APutThatMayHaveBeenSentIsUnknownAndNamesItsOperation) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const std::string name = to_text({sent_one().put().operation, kBoot});
  pass(seconds(5));
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
  EXPECT_NE(message(put).find("key 'k': it may have been written"), std::string::npos) << message(put);
  EXPECT_NE(message(put).find("repeat it with operation id " + name), std::string::npos) << message(put);
}

TEST_F(ClientTranscript, APutThatWasNeverSentIsUnavailable) {
  const size_t put = submit_put();
  fail_connect();
  fail_connect();
  pass(seconds(5));
  EXPECT_EQ(code(put), StatusCode::kUnavailable);
  EXPECT_NE(message(put).find("no node answers: n1:1: "), std::string::npos) << message(put);
}

// A late answer finds nobody: neither its own request, which was answered, nor another.
TEST_F(ClientTranscript, ALateAnswerHarmsNobody) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t slow = submit_get("slow", milliseconds(400));
  const Sent first = sent_one();
  pass(milliseconds(400));
  EXPECT_EQ(code(slow), StatusCode::kUnavailable);
  const size_t next = submit_get("next");
  const Sent second = sent_one();

  answer(first.number, {}, GetResult{{"late"}, {}, 1, false});

  EXPECT_FALSE(replies[next].has_value());
  answer(second.number, {}, GetResult{{"right"}, {}, 1, false});
  EXPECT_EQ(std::get<GetResult>(replies[next]->body).values[0], "right");
  EXPECT_TRUE(transport.closed.empty());
}

// ---- the order of writes

TEST_F(ClientTranscript, WritesOfOneKeyFollowEachOtherInOrderOfSubmission) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t first = submit_put("k");
  ClientPut remove;
  remove.key = "k";
  remove.tombstone = true;
  submit(remove);
  submit_put("k");
  const Sent one = sent_one();
  EXPECT_FALSE(one.put().tombstone);

  answer(one.number, {}, PutReceipt{});
  EXPECT_TRUE(replies[first].has_value());
  const Sent two = sent_one();
  EXPECT_TRUE(two.put().tombstone);
  answer(two.number, too_many_siblings("100"));
  EXPECT_EQ(sent().size(), 1U) << "a failure ends the wait too";
}

TEST_F(ClientTranscript, OnlyWritesOfTheSameKeyWait) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("k");
  submit_put("other");
  submit_get("k");
  ClientPut in_a_bucket;
  in_a_bucket.bucket = "b";
  in_a_bucket.key = "k";
  submit(in_a_bucket);
  EXPECT_EQ(sent().size(), 4U);
}

TEST_F(ClientTranscript, AWriteThatIsRepeatedKeepsItsPlaceBeforeTheNext) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("k");
  submit_put("k");
  const Sent first = sent_one();
  answer(first.number, overloaded("busy"));
  pass(milliseconds(60));
  const Sent again = sent_one();
  break_connection();
  pass(milliseconds(60));
  welcome();
  const Sent repeated = sent_one();
  EXPECT_EQ(repeated.put().operation, again.put().operation);
  answer(repeated.number, {}, PutReceipt{});
  EXPECT_NE(sent_one().put().operation, again.put().operation);
}

TEST_F(ClientTranscript, AWriteThatWaitedInVainWroteNothingAndTheOthersGoOn) {
  pool->connect([](const Status&) {});
  welcome();
  ClientPut put;
  put.key = "k";
  submit(put, seconds(30));
  const size_t second = submit(put, seconds(1));
  const size_t third = submit(put, seconds(30));
  const Sent first = sent_one();
  pass_on_a_slow_node(seconds(1));
  ASSERT_TRUE(replies[second].has_value());
  EXPECT_EQ(replies[second]->status,
            unavailable("key 'k': timed out after 1 s, an earlier write of the key by this client is still "
                        "under way"));
  answer(first.number, {}, PutReceipt{});
  answer(sent_one().number, {}, PutReceipt{});
  EXPECT_TRUE(replies[third]->status.ok());
}

TEST_F(ClientTranscript, WritesThatWaitCountAsUnderWay) {
  make({.nodes = {"n1:1"}, .requests_max = 2, .route = false});
  submit_put("k");
  submit_put("k");
  EXPECT_EQ(code(submit_put("k")), StatusCode::kOverloaded);
}

TEST_F(ClientTranscript, ThousandsOfWritesOfOneKeyMayEndAtOnce) {
  pool->connect([](const Status&) {});
  welcome();
  for (int i = 0; i < 10'000; ++i) submit_put("k");
  (void)sent_one();
  pass_on_a_slow_node(seconds(5));
  size_t answered = 0;
  for (const auto& reply : replies) answered += reply.has_value() ? 1 : 0;
  EXPECT_EQ(answered, replies.size());
}

TEST_F(ClientTranscript, ABlindPutCarriesWhatTheClientHasSeenOfItsKey) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("k");
  submit_put("k");
  submit_put("other");
  const std::vector<Sent> first = sent();
  ASSERT_EQ(first.size(), 2U);
  EXPECT_EQ(first[0].put().seen, "");
  seen = context_of("k", {{NodeId{1}, kBoot}, 7});
  answer(first[0].number, {}, PutReceipt{});
  const Sent second = sent_one();
  EXPECT_EQ(second.put().seen, seen);

  seen.clear();
  submit_get("k");
  const std::string read = context_of("k", {{NodeId{2}, kBoot}, 3});
  answer(sent_one().number, {}, GetResult{{"v"}, Context(read), 1, false});
  answer(second.number, {}, PutReceipt{});
  submit_put("k");
  const Result<CausalContext> both =
      decode_client_context(sent_one().put().seen, token_of(digest_of("", "k")));
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE(both->covers({{NodeId{1}, kBoot}, 7}));
  EXPECT_TRUE(both->covers({{NodeId{2}, kBoot}, 3}));
}

TEST_F(ClientTranscript, APutWithAContextCarriesNothingElse) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("k");
  seen = context_of("k", {{NodeId{1}, kBoot}, 7});
  answer(sent_one().number, {}, PutReceipt{});
  ClientPut put;
  put.key = "k";
  put.context = "";
  submit(put);
  EXPECT_EQ(sent_one().put().seen, "");
}

}  // namespace
}  // namespace ringkv
