// How a session finds a node, carries requests and keeps their deadlines.
#include "tests/node/client_session_transcript.h"

namespace ringkv {
namespace {

// ---- finding a node

TEST_F(ClientSessionTranscript, GreetsTheFirstNodeAndSaysWhenItServes) {
  std::optional<Status> ready;
  session->connect([&](const Status& status) { ready = status; });
  EXPECT_EQ(transport.dialed, (std::vector<Address>{"n1:1"}));

  session->on_connected(1);
  const auto hello = read_frame(transport.output(1), kUnauthenticatedFrameBytesMax);
  ASSERT_TRUE(hello.ok() && hello->has_value());
  EXPECT_NE(codec.decode_hello(**hello)->client, 0U);
  EXPECT_FALSE(ready.has_value());
  welcome();

  ASSERT_TRUE(ready.has_value());
  EXPECT_TRUE(ready->ok());
  EXPECT_EQ(session->node(), "n1:1");
}

TEST_F(ClientSessionTranscript, ANodeThatDoesNotAnswerWithinTheConnectTimeoutIsPassedOver) {
  session->connect([](const Status&) {});
  pass(milliseconds(990));
  EXPECT_EQ(transport.dialed.size(), 1U);
  pass(milliseconds(10));
  EXPECT_EQ(transport.dialed, (std::vector<Address>{"n1:1", "n2:1"}));
  EXPECT_EQ(transport.closed, (std::vector<ConnectionId>{1}));
  welcome();
  EXPECT_EQ(session->node(), "n2:1");
}

TEST_F(ClientSessionTranscript, WhenNoneServesEachIsNamedWithItsReason) {
  std::optional<Status> ready;
  session->connect([&](const Status& status) { ready = status; });
  fail_connect();
  EXPECT_FALSE(ready.has_value());
  session->on_connected(transport.last);
  std::string refusal;
  codec.encode_refusal(forbidden("not a member"), refusal);
  receive(refusal);

  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ(*ready, unavailable("no node answers: n1:1: Connection refused; n2:1: FORBIDDEN: not a member"));
}

TEST_F(ClientSessionTranscript, AnotherProtocolOrAnotherClusterIsNotServedFrom) {
  session->connect([](const Status&) {});
  welcome();
  submit_get();
  break_connection();
  pass(milliseconds(60));
  welcome(kOtherBoot, ClusterId{0xBAD});
  EXPECT_EQ(transport.dialed.back(), "n2:1") << "the next one is tried";
  EXPECT_TRUE(sent().empty());
  welcome(kOtherBoot, kCluster, 99);
  pass(milliseconds(100));
  EXPECT_EQ(transport.dialed.back(), "n1:1") << "and then the first again";
}

TEST_F(ClientSessionTranscript, WhoDoesNotSpeakTheProtocolIsPassedOver) {
  std::optional<Status> ready;
  make({.nodes = {"web:80"}});
  session->connect([&](const Status& status) { ready = status; });
  session->on_connected(transport.last);
  receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  ASSERT_TRUE(ready.has_value());
  EXPECT_NE(ready->message().find("web:80: it doesn't speak ringkv's protocol"), std::string::npos)
      << ready->message();
  EXPECT_EQ(transport.closed.size(), 1U);
}

TEST_F(ClientSessionTranscript, PausesBetweenRoundsGrowToASecondAndEndWithoutRequests) {
  make({.nodes = {"n1:1"}});
  submit_get("k", seconds(30));
  std::vector<Time> dials;
  for (const Time end = clock.now() + seconds(29); clock.now() < end;) {
    const size_t before = transport.dialed.size();
    if (transport.open.contains(transport.last)) fail_connect();
    pass(milliseconds(10));
    if (transport.dialed.size() > before) dials.push_back(clock.now());
  }
  EXPECT_LE(dials[1] - dials[0], milliseconds(120));
  EXPECT_GE(dials.back() - dials[dials.size() - 2], milliseconds(500));
  EXPECT_LE(dials.back() - dials[dials.size() - 2], milliseconds(1030));

  pass(seconds(2));
  ASSERT_TRUE(replies[0].has_value());
  if (transport.open.contains(transport.last)) fail_connect();
  const size_t dialed = transport.dialed.size();
  pass(seconds(10));
  EXPECT_EQ(transport.dialed.size(), dialed);
}

// ---- requests

TEST_F(ClientSessionTranscript, RequestsArePipelinedAndAnswersFindTheirsInAnyOrder) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, ARequestBeforeAnyNodeServesIsSentOnceOneDoes) {
  const size_t get = submit_get();
  EXPECT_EQ(transport.dialed.size(), 1U);
  welcome();
  answer(sent_one().number, not_found("no"), {});
  EXPECT_EQ(code(get), StatusCode::kNotFound);
}

TEST_F(ClientSessionTranscript, EachPutHasAnOperationOfItsOwnAndTheReceiptNamesIt) {
  session->connect([](const Status&) {});
  welcome();
  const size_t first = submit_put();
  submit_put();
  const std::vector<Sent> requests = sent();
  EXPECT_NE(requests[0].put().operation, requests[1].put().operation);
  EXPECT_EQ(requests[0].put().operation.client, requests[1].put().operation.client);
  EXPECT_FALSE(requests[0].put().first_tried);

  answer(requests[0].number, {}, PutReceipt{});
  EXPECT_EQ(std::get<PutReceipt>(replies[first]->body).operation_id,
            to_text({requests[0].put().operation, kBoot}));
}

TEST_F(ClientSessionTranscript, WhatIsTooLongOrEmptyIsRefusedBeforeItIsSent) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, MoreRequestsThanAllowedAreRefusedUntilSomeAreAnswered) {
  make({.nodes = {"n1:1"}, .requests_max = 2});
  session->connect([](const Status&) {});
  welcome();
  submit_get();
  submit_get();
  EXPECT_EQ(code(submit_get()), StatusCode::kOverloaded);
  answer(sent()[0].number, not_found(""));
  EXPECT_FALSE(replies[submit_get()].has_value());
}

TEST_F(ClientSessionTranscript, AConnectionThatIsFullIsWaitedFor) {
  session->connect([](const Status&) {});
  welcome();
  transport.unsent = kUnsentBytesMax + 1;
  submit_get();
  EXPECT_TRUE(sent().empty());
  transport.unsent = 0;
  pass(milliseconds(10));
  EXPECT_EQ(sent().size(), 1U);
}

TEST_F(ClientSessionTranscript, AReplyInPartsIsPutTogether) {
  session->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  GetResult result;
  result.values = {std::string(kValueBytesMax, 'a'), std::string(kValueBytesMax, 'b')};
  answer(sent_one().number, {}, result);
  ASSERT_TRUE(replies[get].has_value());
  EXPECT_EQ(std::get<GetResult>(replies[get]->body).values, result.values);
}

// ---- time

TEST_F(ClientSessionTranscript, AGetThatTimesOutSaysSo) {
  session->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  pass(milliseconds(4990));
  EXPECT_FALSE(replies[get].has_value());
  pass(milliseconds(10));
  ASSERT_TRUE(replies[get].has_value());
  EXPECT_EQ(replies[get]->status, unavailable("key 'k': timed out after 5 s, n1:1 didn't answer"));
}

TEST_F(ClientSessionTranscript, TheNodeIsGivenALittleLessTimeThanIsLeft) {
  submit_get();
  pass(milliseconds(500));
  welcome();
  const Duration timeout = sent_one().request.timeout;
  EXPECT_LE(timeout, milliseconds(4500));
  EXPECT_GE(timeout, milliseconds(4200));
}

TEST_F(ClientSessionTranscript, APutThatMayHaveBeenSentIsUnknownAndNamesItsOperation) {
  session->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const std::string name = to_text({sent_one().put().operation, kBoot});
  pass(seconds(5));
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
  EXPECT_NE(message(put).find("key 'k': it may have been written"), std::string::npos) << message(put);
  EXPECT_NE(message(put).find("repeat it with operation id " + name), std::string::npos) << message(put);
}

TEST_F(ClientSessionTranscript, APutThatWasNeverSentIsUnavailable) {
  const size_t put = submit_put();
  fail_connect();
  fail_connect();
  pass(seconds(5));
  EXPECT_EQ(code(put), StatusCode::kUnavailable);
  EXPECT_NE(message(put).find("no node answers: n1:1: "), std::string::npos) << message(put);
}

// A late answer finds nobody: neither its own request, which was answered, nor another.
TEST_F(ClientSessionTranscript, ALateAnswerHarmsNobody) {
  session->connect([](const Status&) {});
  welcome();
  const size_t slow = submit_get("slow", milliseconds(500));
  const Sent first = sent_one();
  pass(milliseconds(500));
  EXPECT_EQ(code(slow), StatusCode::kUnavailable);
  const size_t next = submit_get("next");
  const Sent second = sent_one();

  answer(first.number, {}, GetResult{{"late"}, {}, 1, false});

  EXPECT_FALSE(replies[next].has_value());
  answer(second.number, {}, GetResult{{"right"}, {}, 1, false});
  EXPECT_EQ(std::get<GetResult>(replies[next]->body).values[0], "right");
  EXPECT_TRUE(transport.closed.empty());
}

// TCP finds a peer that vanished later than a request's deadline.
TEST_F(ClientSessionTranscript, ANodeThatHasGoneSilentIsGivenUpForTheNext) {
  session->connect([](const Status&) {});
  welcome();
  const size_t first = submit_get("a", seconds(2));
  pass(seconds(1));
  const size_t second = submit_get("b");
  pass(seconds(1));
  EXPECT_EQ(code(first), StatusCode::kUnavailable);
  EXPECT_EQ(transport.closed.size(), 1U);
  pass(milliseconds(60));
  EXPECT_EQ(transport.dialed.back(), "n2:1");
  welcome(kOtherBoot);
  answer(sent_one().number, not_found(""));
  EXPECT_EQ(code(second), StatusCode::kNotFound);
}

TEST_F(ClientSessionTranscript, ANodeThatIsOnlySlowKeepsItsConnection) {
  session->connect([](const Status&) {});
  welcome();
  submit_get("slow", seconds(2));
  submit_get("quick", seconds(2));
  const std::vector<Sent> requests = sent();
  pass(seconds(1));
  answer(requests[1].number, not_found(""));
  pass(seconds(1));
  EXPECT_EQ(code(0), StatusCode::kUnavailable);
  EXPECT_TRUE(transport.closed.empty());
}

}  // namespace
}  // namespace ringkv
