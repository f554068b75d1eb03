#include "node/client_door.h"

#include <gtest/gtest.h>

#include "tests/node/fake_transport.h"

namespace ringkv {
namespace {

class ClientDoorTranscript : public testing::Test {
 protected:
  ClientDoorTranscript()
      : door(
            transport, clock, log, [this] { return welcome; },
            [this](Requester requester, ClientRequest) { asked.push_back(requester); }) {}

  ConnectionId accept() {
    transport.open[++transport.last] = {};
    door.on_accepted(transport.last, Door::kClient, "127.0.0.1:9");
    return transport.last;
  }
  void say(ConnectionId connection, const std::string& bytes) { door.on_bytes(connection, bytes); }
  std::string hello(uint64_t client) {
    std::string bytes;
    codec.encode(Hello{.client = client}, bytes);
    return bytes;
  }
  std::string get() {
    std::string bytes;
    EXPECT_TRUE(
        codec.encode(ClientRequest{ClientGet{.key = "k"}, std::chrono::seconds(1)}, 7, 0, bytes).ok());
    return bytes;
  }
  bool is_open(ConnectionId connection) const { return transport.open.contains(connection); }

  FakeClock clock;
  FakeTransport transport;
  NoLog log;
  WireCodec codec;
  Result<Welcome> welcome = Welcome{.node = NodeId{1}, .name = "n1", .boot = Boot{1}};
  std::vector<Requester> asked;
  ClientDoor door;
};

TEST_F(ClientDoorTranscript, TakesRequestsOfWhoHasGreeted) {
  const ConnectionId connection = accept();
  say(connection, hello(5) + get());
  ASSERT_EQ(asked.size(), 1U);
  EXPECT_EQ(asked[0].connection, connection);
  EXPECT_EQ(asked[0].request, 7U);
}

TEST_F(ClientDoorTranscript, ARequestBeforeTheGreetingEndsTheConnection) {
  const ConnectionId connection = accept();
  say(connection, get());
  EXPECT_TRUE(asked.empty());
  EXPECT_FALSE(is_open(connection));
  EXPECT_EQ(door.statistics().refused_frames, 1U);
}

// What a client sent on a connection that it has given up must not come behind its retry on another one.
TEST_F(ClientDoorTranscript, AClientThatGreetsAgainIsHeardOnItsNewConnectionOnly) {
  const ConnectionId old = accept();
  say(old, hello(5));
  const ConnectionId fresh = accept();
  say(fresh, hello(5));
  say(old, get());
  EXPECT_TRUE(asked.empty());
  EXPECT_FALSE(is_open(old));
  say(fresh, get());
  EXPECT_EQ(asked.size(), 1U);
  EXPECT_EQ(door.statistics().connections_now, 1U);
}

TEST_F(ClientDoorTranscript, OtherClientsAndThoseWithoutANameStay) {
  const ConnectionId first = accept();
  const ConnectionId second = accept();
  const ConnectionId third = accept();
  say(first, hello(0));
  say(second, hello(0));
  say(third, hello(6));
  for (const ConnectionId connection : {first, second, third}) EXPECT_TRUE(is_open(connection));
}

TEST_F(ClientDoorTranscript, WhoNeverGreetsIsEnded) {
  const ConnectionId silent = accept();
  const ConnectionId greeted = accept();
  say(greeted, hello(5));
  clock.advance(std::chrono::seconds(9));
  door.on_tick(clock.now());
  EXPECT_TRUE(is_open(silent));
  clock.advance(std::chrono::seconds(1));
  door.on_tick(clock.now());
  EXPECT_FALSE(is_open(silent));
  EXPECT_TRUE(is_open(greeted));
}

TEST_F(ClientDoorTranscript, ANodeThatDoesNotServeGreetsNobody) {
  welcome = unavailable("n1 reopens its store");
  const ConnectionId connection = accept();
  say(connection, hello(5));
  EXPECT_FALSE(is_open(connection));
}

// While much waits to be sent no more is taken; past the bound of all together, who holds much of it is
// ended.
TEST_F(ClientDoorTranscript, AnswersThatNobodyReadsAreBounded) {
  const ConnectionId connection = accept();
  say(connection, hello(5));
  transport.unsent = kUnsentBytesMax + 1;
  EXPECT_EQ(door.on_bytes(connection, get()), 0U);
  EXPECT_TRUE(asked.empty());

  door.answer({connection, 7}, ClientReply());
  EXPECT_TRUE(is_open(connection));
  transport.unsent = size_t{200} << 20;
  door.answer({connection, 7}, ClientReply());
  EXPECT_FALSE(is_open(connection));
  EXPECT_EQ(door.statistics().dropped_slow_readers, 1U);
}

TEST_F(ClientDoorTranscript, AnswersOfAllClientsTogetherAreBoundedToo) {
  std::vector<ConnectionId> connections;
  for (uint64_t client = 1; client <= 3; ++client) {
    transport.unsent = 0;
    connections.push_back(accept());
    say(connections.back(), hello(client));
    transport.unsent = size_t{100} << 20;
    door.answer({connections.back(), 7}, ClientReply());
  }
  EXPECT_TRUE(is_open(connections[0]));
  EXPECT_TRUE(is_open(connections[1]));
  EXPECT_FALSE(is_open(connections[2]));
}

}  // namespace
}  // namespace ringkv
