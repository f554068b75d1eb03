#include "node/client_session.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/node/fake_transport.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Boot kBoot{0xB1};
constexpr Boot kOtherBoot{0xB2};
constexpr ClusterId kCluster{0xC1};

struct Sent {
  uint64_t number;
  ClientRequest request;

  const ClientPut& put() const { return std::get<ClientPut>(request.body); }
};

// Plays the nodes against a session.
class ClientSessionTranscript : public testing::Test {
 protected:
  ClientSessionTranscript() { make({.nodes = {"n1:1", "n2:1"}}); }

  void make(const ClientOptions& options) { session.emplace(options, transport, clock, random); }

  void pass(Duration time) {
    for (const Time end = clock.now() + time; clock.now() < end;) {
      clock.advance(milliseconds(10));
      session->on_tick(clock.now());
    }
  }

  // The connection that was opened last answers with a welcome.
  void welcome(Boot boot = kBoot, ClusterId cluster = kCluster, uint32_t protocol = kProtocolVersion) {
    session->on_connected(transport.last);
    EXPECT_FALSE(transport.output(transport.last).empty()) << "no greeting";
    transport.output(transport.last).clear();
    std::string bytes;
    codec.encode(Welcome{protocol, cluster, {1}, "n", boot}, 1, bytes);
    receive(bytes);
  }

  void receive(const std::string& bytes) { session->on_bytes(transport.last, bytes); }

  void fail_connect(const std::string& why = "Connection refused") {
    const ConnectionId connection = transport.last;
    transport.open.erase(connection);
    session->on_closed(connection, unavailable(why));
  }
  void break_connection() { fail_connect("Connection reset by peer"); }

  // Takes what the session has sent.
  std::vector<Sent> sent() {
    std::vector<Sent> requests;
    std::string& bytes = transport.output(transport.last);
    while (!bytes.empty()) {
      const auto frame = read_frame(bytes, kFrameBytesMax);
      EXPECT_TRUE(frame.ok() && frame->has_value());
      Result<ClientRequest> request = codec.decode_client_request(**frame);
      EXPECT_TRUE(request.ok()) << request.status().to_string();
      requests.push_back({(*frame)->request, *request});
      bytes.erase(0, (*frame)->bytes);
    }
    return requests;
  }
  Sent sent_one() {
    const std::vector<Sent> requests = sent();
    EXPECT_EQ(requests.size(), 1U);
    return requests.empty() ? Sent{0, {}} : requests[0];
  }

  void answer(uint64_t number, Status status, ClientReply::Body body = {}, Boot boot = kBoot) {
    std::string bytes;
    codec.encode({std::move(status), std::move(body), 1, boot}, number, bytes);
    receive(bytes);
  }

  size_t submit(ClientRequest::Body body, Duration timeout = seconds(5)) {
    const size_t index = replies.size();
    replies.emplace_back();
    session->submit({std::move(body), timeout}, [this, index](ClientReply reply) {
      EXPECT_FALSE(replies[index].has_value()) << "answered twice";
      replies[index] = std::move(reply);
    });
    return index;
  }
  size_t submit_put(const std::string& key = "k") {
    ClientPut put;
    put.key = key;
    put.value = "v";
    return submit(put);
  }
  size_t submit_get(const std::string& key = "k", Duration timeout = seconds(5)) {
    return submit(ClientGet{"", key, 0, true}, timeout);
  }

  StatusCode code(size_t index) { return replies[index]->status.code(); }
  std::string message(size_t index) { return replies[index]->status.message(); }

  FakeTransport transport;
  FakeClock clock;
  SeededRandom random{1};
  WireCodec codec;
  std::optional<ClientSession> session;
  std::vector<std::optional<ClientReply>> replies;
};

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

// ---- lost connections

TEST_F(ClientSessionTranscript, AReadIsRepeatedAfterALostConnection) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, APutIsRepeatedAsTheSameOperationWithTheBootThatItWasSentTo) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, ARetryThatAnotherBootCannotAnswerForStaysUnknown) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, AnotherBootsUnavailableIsRetriedAndNeverEndsAsNothingWritten) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, TheBootThatWasAskedFirstSpeaksForTheOperation) {
  session->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  sent();
  break_connection();
  pass(milliseconds(60));
  welcome();
  answer(sent_one().number, out_of_space("full"));
  EXPECT_EQ(code(put), StatusCode::kOutOfSpace);
}

TEST_F(ClientSessionTranscript, AChangeOfBucketsIsNotRepeated) {
  session->connect([](const Status&) {});
  welcome();
  const size_t create = submit(ClientCreateBucket{{"b", "lww", 0, 0, 0}});
  sent();
  break_connection();
  EXPECT_EQ(code(create), StatusCode::kUnknownOutcome);
  EXPECT_NE(message(create).find("bucket 'b'"), std::string::npos);
}

TEST_F(ClientSessionTranscript, ANodeThatSendsNonsenseLosesTheConnectionAndItsRequestsGoElsewhere) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, AnOverloadedNodeIsAskedAgainWithNewOperationsUntilItTakesThePut) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, AnOverloadThatDoesNotEndIsTheAnswerInTheEnd) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, AnUnavailableIsToldAfterAFewTries) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, WhatIsFinalIsToldAtOnce) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, AGivenOperationIsKept) {
  session->connect([](const Status&) {});
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

TEST_F(ClientSessionTranscript, ShuttingDownAnswersAllAndTakesNoMore) {
  session->connect([](const Status&) {});
  welcome();
  const size_t put = submit_put();
  const size_t get = submit_get();
  session->shut_down();
  EXPECT_EQ(code(put), StatusCode::kUnknownOutcome);
  EXPECT_EQ(code(get), StatusCode::kUnavailable);
  EXPECT_EQ(code(submit_get()), StatusCode::kUnavailable);
}

TEST_F(ClientSessionTranscript, ACallbackMaySubmit) {
  session->connect([](const Status&) {});
  welcome();
  std::optional<ClientReply> inner;
  session->submit({ClientGet{"", "a", 0, true}, seconds(5)}, [&](const ClientReply&) {
    session->submit({ClientGet{"", "b", 0, true}, seconds(5)},
                    [&](ClientReply reply) { inner = std::move(reply); });
  });
  answer(sent_one().number, not_found(""));
  answer(sent_one().number, not_found(""));
  EXPECT_TRUE(inner.has_value());
}

}  // namespace
}  // namespace ringkv
