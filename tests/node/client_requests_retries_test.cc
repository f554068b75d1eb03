// What a client repeats, and what it must not: lost connections, refusals, operations given by the caller.
#include "tests/node/client_transcript.h"

namespace ringkv {
namespace {

// ---- lost connections

TEST_F(ClientTranscript, AReadIsRepeatedAfterALostConnection) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  const Sent first = sent_one();
  break_connection();
  EXPECT_FALSE(replies[get].has_value());
  pass(milliseconds(60));
  EXPECT_EQ(transport.dialed.back(), "n1:1") << "the same node first";
  welcome();
  const Sent second = sent_one();
  EXPECT_NE(second.number, first.number);
  answer(second.number, not_found(""));
  EXPECT_EQ(code(get), StatusCode::kNotFound);
}

TEST_F(ClientTranscript, APutIsRepeatedAsTheSameOperationWithTheBootThatItWasSentTo) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const Sent first = sent_one();
  break_connection();
  pass(milliseconds(60));
  fail_connect();
  welcome(kOtherBoot);

  const Sent second = sent_one();
  EXPECT_EQ(second.put().operation, first.put().operation);
  EXPECT_EQ(second.put().first_tried, kBoot);
  break_connection();
  pass(milliseconds(60));
  welcome(kOtherBoot);
  const Sent third = sent_one();
  EXPECT_EQ(third.put().first_tried, kBoot) << "the first boot, not the last";

  answer(third.number, {}, PutReceipt{}, kOtherBoot);
  EXPECT_TRUE(replies[put]->status.ok());
  EXPECT_EQ(std::get<PutReceipt>(replies[put]->body).operation_id, to_text({first.put().operation, kBoot}));
}

// A node that was fenced lives on as another boot without losing its connections. Each put is repeated under
// the boot that was known when it was sent: under a later one it would pass for a put that never came.
TEST_F(ClientTranscript, APutIsRepeatedUnderTheBootThatWasKnownWhenItWasSent) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("before");
  submit_get("k");
  const std::vector<Sent> first = sent();
  ASSERT_EQ(first.size(), 2U);
  answer(first[1].number, {}, GetResult{}, kOtherBoot);
  submit_put("after");
  (void)sent_one();
  break_connection();
  pass(milliseconds(60));
  welcome(kOtherBoot);

  const std::vector<Sent> again = sent();
  ASSERT_EQ(again.size(), 2U);
  EXPECT_EQ(again[0].put().key, "before");
  EXPECT_EQ(again[0].put().first_tried, kBoot);
  EXPECT_EQ(again[1].put().first_tried, kOtherBoot);
}

TEST_F(ClientTranscript, ARetryThatAnotherBootCannotAnswerForStaysUnknown) {
  pool->connect([](const Status&) {});
  welcome();
  for (const Status& answered :
       {unknown_outcome("never heard of it"), out_of_space("full"), invalid_argument("bad context")}) {
    const size_t put = submit_put();
    const std::string name = to_text({sent_one().put().operation, kBoot});
    break_connection();
    pass(milliseconds(60));
    welcome(kOtherBoot);
    answer(sent_one().number, answered, {}, kOtherBoot);
    EXPECT_EQ(code(put), StatusCode::kUnknownOutcome) << answered.to_string();
    EXPECT_NE(message(put).find(name), std::string::npos);
    break_connection();
    submit_get();
    pass(milliseconds(60));
    welcome();
    answer(sent_one().number, not_found(""));
  }
}

TEST_F(ClientTranscript, AnotherBootsUnavailableIsRetriedAndNeverEndsAsNothingWritten) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const Sent first = sent_one();
  break_connection();
  pass(milliseconds(60));
  welcome(kOtherBoot);
  for (int i = 0; i < 4; ++i) {
    const Sent retry = sent_one();
    EXPECT_EQ(retry.put().operation, first.put().operation);
    EXPECT_EQ(retry.put().first_tried, kBoot);
    EXPECT_FALSE(replies[put].has_value());
    answer(retry.number, unavailable("no quorum"), {}, kOtherBoot);
    pass(milliseconds(900));
  }
  ASSERT_TRUE(replies[put].has_value());
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
}

TEST_F(ClientTranscript, TheBootThatWasAskedFirstSpeaksForTheOperation) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  sent();
  break_connection();
  pass(milliseconds(60));
  welcome();
  answer(sent_one().number, out_of_space("full"));
  EXPECT_EQ(code(put), StatusCode::kOutOfSpace);
}

TEST_F(ClientTranscript, AChangeOfBucketsIsNotRepeated) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t create = submit(ClientCreateBucket{{"b", "lww", 0, 0, 0}});
  sent();
  break_connection();
  EXPECT_EQ(code(create), StatusCode::kUnknownOutcome);
  EXPECT_NE(message(create).find("bucket 'b'"), std::string::npos);
}

TEST_F(ClientTranscript, ANodeThatSendsNonsenseLosesTheConnectionAndItsRequestsGoElsewhere) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  sent();
  receive(std::string(100, '\xFF'));
  EXPECT_EQ(transport.closed.size(), 1U);
  EXPECT_FALSE(replies[get].has_value());
  pass(milliseconds(60));
  welcome();
  answer(sent_one().number, not_found(""));
  EXPECT_EQ(code(get), StatusCode::kNotFound);
}

// ---- answers that say that nothing was written

TEST_F(ClientTranscript, AnOverloadedNodeIsAskedAgainWithNewOperationsUntilItTakesThePut) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  std::set<OperationId> operations;
  for (int i = 0; i < 6; ++i) {
    const Sent request = sent_one();
    operations.insert(request.put().operation);
    EXPECT_FALSE(request.put().first_tried);
    answer(request.number, overloaded("too many requests"));
    EXPECT_TRUE(sent().empty()) << "no pause";
    pass(milliseconds(25 << std::min(i, 4)));
    for (int waited = 0; transport.output(transport.last).empty() && waited < 100; ++waited)
      pass(milliseconds(10));
  }
  EXPECT_EQ(operations.size(), 6U);
  answer(sent_one().number, {}, PutReceipt{});
  EXPECT_TRUE(replies[put]->status.ok());
}

TEST_F(ClientTranscript, AnOverloadThatDoesNotEndIsTheAnswerInTheEnd) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const Time start = clock.now();
  while (!replies[put].has_value()) {
    for (const Sent& request : sent()) answer(request.number, overloaded("too many requests"));
    pass(milliseconds(10));
  }
  EXPECT_EQ(replies[put]->status, overloaded("too many requests"));
  EXPECT_LE(clock.now() - start, seconds(5));
  EXPECT_GE(clock.now() - start, seconds(4));
}

TEST_F(ClientTranscript, AnUnavailableIsToldAfterAFewTries) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const Time start = clock.now();
  int asked = 0;
  while (!replies[put].has_value()) {
    for (const Sent& request : sent()) {
      ++asked;
      answer(request.number, unavailable("no owner can be reached"));
    }
    pass(milliseconds(10));
  }
  EXPECT_EQ(replies[put]->status, unavailable("no owner can be reached"));
  EXPECT_EQ(asked, 4);
  EXPECT_LT(clock.now() - start, milliseconds(500));
}

TEST_F(ClientTranscript, WhatIsFinalIsToldAtOnce) {
  pool->connect([](const Status&) {});
  welcome();
  for (const Status& final_answer : {out_of_space("full"), forbidden("no"), too_many_siblings("100"),
                                     invalid_argument("w"), corruption("bad block")}) {
    const size_t put = submit_put();
    answer(sent_one().number, final_answer);
    ASSERT_TRUE(replies[put].has_value());
    EXPECT_EQ(replies[put]->status, final_answer);
  }
}

// ---- operations given by the caller

TEST_F(ClientTranscript, AGivenOperationIsKept) {
  pool->connect([](const Status&) {});
  welcome();
  ClientPut put;
  put.key = "k";
  put.operation = {7, 9};
  put.first_tried = kOtherBoot;
  const size_t index = submit(put);
  const Sent request = sent_one();
  EXPECT_EQ(request.put().operation, (OperationId{7, 9}));
  EXPECT_EQ(request.put().first_tried, kOtherBoot);
  pass(seconds(5));
  EXPECT_EQ(code(index), StatusCode::kUnknownOutcome);
  EXPECT_NE(message(index).find(to_text({{7, 9}, kOtherBoot})), std::string::npos);
}

// Its caller may repeat it by that name: under another one it could be applied beside the repetition.
TEST_F(ClientTranscript, AGivenOperationThatWasRefusedIsNotRepeatedUnderAnotherName) {
  pool->connect([](const Status&) {});
  welcome();
  ClientPut put;
  put.key = "k";
  put.operation = {7, 9};
  put.first_tried = kBoot;
  const size_t index = submit(put);
  answer(sent_one().number, unavailable("1 of 2"));
  ASSERT_TRUE(replies[index].has_value());
  EXPECT_EQ(code(index), StatusCode::kUnavailable);
}

TEST_F(ClientTranscript, ShuttingDownAnswersAllAndTakesNoMore) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const size_t get = submit_get();
  pool->shut_down();
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
  EXPECT_EQ(code(get), StatusCode::kUnavailable);
  EXPECT_EQ(code(submit_get()), StatusCode::kUnavailable);
}

TEST_F(ClientTranscript, WhatWaitedBehindAnotherWriteIsNotSentAtTheEnd) {
  pool->connect([](const Status&) {});
  welcome();
  submit_put("k");
  const size_t second = submit_put("k");
  answer(sent_one().number, overloaded("busy"));
  pass(milliseconds(60));
  (void)sent_one();
  pool->shut_down();
  EXPECT_TRUE(sent().empty());
  EXPECT_EQ(code(second), StatusCode::kUnavailable);
}

// On another node it would be another fault.
TEST_F(ClientTranscript, AFaultIsNotRepeated) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t fault = submit(ClientFault{ClientFault::Kind::kDrop, "n2", 0});
  sent();
  break_connection();
  EXPECT_EQ(code(fault), StatusCode::kUnknownOutcome);
}

TEST_F(ClientTranscript, ACallbackMaySubmit) {
  pool->connect([](const Status&) {});
  welcome();
  std::optional<ClientReply> inner;
  pool->submit({ClientGet{"", "a", 0, true}, seconds(5)}, [&](const ClientReply&) {
    pool->submit({ClientGet{"", "b", 0, true}, seconds(5)},
                 [&](ClientReply reply) { inner = std::move(reply); });
  });
  answer(sent_one().number, not_found(""));
  answer(sent_one().number, not_found(""));
  EXPECT_TRUE(inner.has_value());
}

}  // namespace
}  // namespace ringkv
