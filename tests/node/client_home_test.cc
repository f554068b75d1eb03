// How a client finds a node among the given ones.
#include "node/client_home.h"

#include "tests/node/client_transcript.h"

namespace ringkv {
namespace {

TEST_F(ClientTranscript, GreetsTheFirstNodeAndSaysWhenItServes) {
  std::optional<Status> ready;
  pool->connect([&](const Status& status) { ready = status; });
  EXPECT_EQ(transport.dialed, (std::vector<Address>{"n1:1"}));

  pool->on_connected(1);
  const auto hello = read_frame(transport.output(1), kUnauthenticatedFrameBytesMax);
  ASSERT_TRUE(hello.ok() && hello->has_value());
  EXPECT_NE(codec.decode_hello(**hello)->client, 0U);
  EXPECT_FALSE(ready.has_value());
  welcome();

  ASSERT_TRUE(ready.has_value());
  EXPECT_TRUE(ready->ok());
  EXPECT_EQ(pool->node(), "n1:1");
}

TEST_F(ClientTranscript, ANodeThatDoesNotAnswerWithinTheConnectTimeoutIsPassedOver) {
  pool->connect([](const Status&) {});
  pass(milliseconds(990));
  EXPECT_EQ(transport.dialed.size(), 1U);
  pass(milliseconds(10));
  EXPECT_EQ(transport.dialed, (std::vector<Address>{"n1:1", "n2:1"}));
  EXPECT_EQ(transport.closed, (std::vector<ConnectionId>{1}));
  welcome();
  EXPECT_EQ(pool->node(), "n2:1");
}

TEST_F(ClientTranscript, WhenNoneServesEachIsNamedWithItsReason) {
  std::optional<Status> ready;
  pool->connect([&](const Status& status) { ready = status; });
  fail_connect();
  EXPECT_FALSE(ready.has_value());
  pool->on_connected(transport.last);
  std::string refusal;
  codec.encode_refusal(forbidden("not a member"), refusal);
  receive(refusal);

  ASSERT_TRUE(ready.has_value());
  EXPECT_EQ(*ready, unavailable("no node answers: n1:1: Connection refused; n2:1: FORBIDDEN: not a member"));
}

TEST_F(ClientTranscript, AnotherProtocolOrAnotherClusterIsNotServedFrom) {
  pool->connect([](const Status&) {});
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

TEST_F(ClientTranscript, WhoDoesNotSpeakTheProtocolIsPassedOver) {
  std::optional<Status> ready;
  make({.nodes = {"web:80"}, .route = false});
  pool->connect([&](const Status& status) { ready = status; });
  pool->on_connected(transport.last);
  receive("HTTP/1.1 400 Bad Request\r\n\r\n");
  ASSERT_TRUE(ready.has_value());
  EXPECT_NE(ready->message().find("web:80: it doesn't speak ringkv's protocol"), std::string::npos)
      << ready->message();
  EXPECT_EQ(transport.closed.size(), 1U);
}

TEST_F(ClientTranscript, PausesBetweenRoundsGrowToASecondAndEndWithoutRequests) {
  make({.nodes = {"n1:1"}, .route = false});
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

// TCP finds a peer that vanished later than any request's deadline.
TEST_F(ClientTranscript, AGivenNodeThatHasGoneSilentIsGivenUpForTheNext) {
  pool->connect([](const Status&) {});
  welcome();
  const size_t get = submit_get();
  pass(seconds(2));
  EXPECT_EQ(transport.closed, (std::vector<ConnectionId>{1}));
  pass(milliseconds(60));
  EXPECT_EQ(transport.dialed.back(), "n2:1");
  welcome(kOtherBoot);
  EXPECT_EQ(pool->node(), "n2:1");
  answer(sent_one().number, not_found(""));
  EXPECT_EQ(code(get), StatusCode::kNotFound);
}

}  // namespace
}  // namespace ringkv
