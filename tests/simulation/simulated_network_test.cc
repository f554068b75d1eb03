#include "tools/simulation/simulated_network.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// One machine with a process that notes what it hears.
struct Machine final : TransportHandler {
  Machine(SimulatedNetwork& network, const std::string& name) : host(network, name) {
    host.attach(*this, [this] { host.flush(); });
  }
  void on_accepted(ConnectionId id, Door through, const Address&) override {
    connection = id;
    door = through;
  }
  void on_connected(ConnectionId) override { connected = true; }
  size_t on_bytes(ConnectionId, std::string_view available) override {
    const size_t used = std::min(available.size(), takes_at_most);
    heard += available.substr(0, used);
    return used;
  }
  void on_closed(ConnectionId, const Status& why) override { closed = why.message(); }

  void say(const std::string& text) {
    host.output(connection) += text;
    host.flush();
  }

  SimulatedHost host;
  ConnectionId connection = 0;
  std::optional<Door> door;
  bool connected = false;
  std::string heard;
  std::string closed;
  size_t takes_at_most = std::string::npos;
};

class Network : public testing::Test {
 protected:
  void connect() {
    server.host.listen("server:1", Door::kClient);
    client.connection = client.host.connect("server:1");
    pass(seconds(1));
  }
  void pass(Duration duration) { events.run_until(events.now() + duration); }

  EventQueue events;
  Trace trace{nullptr};
  SeededRandom random{1};
  Faults faults;
  Sightings sightings;
  Calendar calendar;
  World world{events, trace, random, faults, sightings, calendar};
  SimulatedNetwork network{world};
  Machine client{network, "client"};
  Machine server{network, "server"};
};

TEST_F(Network, ConnectsToAListeningDoorAndCarriesBytesBothWays) {
  connect();
  EXPECT_TRUE(client.connected);
  client.say("hello");
  pass(seconds(1));
  server.say("welcome");
  pass(seconds(1));
  EXPECT_EQ(server.heard, "hello");
  EXPECT_EQ(client.heard, "welcome");
}

TEST_F(Network, AStreamStaysInOrderWhateverHappensToItsSegments) {
  faults.delayed = faults.lost = faults.reordered = 0.3;
  connect();
  pass(seconds(60));
  ASSERT_TRUE(client.connected);
  std::string said;
  for (int i = 0; i < 500; ++i) {
    const std::string text = std::to_string(i) + ",";
    said += text;
    client.say(text);
    pass(milliseconds(1));
  }
  pass(seconds(600));
  EXPECT_EQ(server.heard, said);
}

TEST_F(Network, MoreThanTheWindowArrivesAllTheSame) {
  connect();
  const std::string much(3 << 20, 'x');
  client.say(much);
  pass(seconds(10));
  EXPECT_EQ(server.heard.size(), much.size());
  EXPECT_EQ(client.host.unsent_bytes(client.connection), 0U);
}

TEST_F(Network, WhatAHandlerLeavesComesAgainWithMoreBehindIt) {
  connect();
  server.takes_at_most = 2;
  client.say("abcde");
  pass(seconds(1));
  server.takes_at_most = std::string::npos;
  client.say("f");
  pass(seconds(1));
  EXPECT_EQ(server.heard, "abcdef");
}

TEST_F(Network, AClosedConnectionDeliversItsOutputFirst) {
  connect();
  client.host.output(client.connection) += "bye";
  client.host.close(client.connection);
  pass(seconds(1));
  EXPECT_EQ(server.heard, "bye");
  EXPECT_EQ(server.closed, "the other side closed the connection");
  EXPECT_EQ(server.host.connections(), 0U);
}

TEST_F(Network, AMachineWithoutAProcessRefusesAndResets) {
  connect();
  server.host.detach_killed();
  pass(seconds(1));
  EXPECT_EQ(client.closed, "Connection reset by peer");
  client.connected = false;
  client.host.connect("server:1");
  pass(seconds(1));
  EXPECT_EQ(client.closed, "Connection refused");
  EXPECT_FALSE(client.connected);
}

TEST_F(Network, BehindAMachineWithoutPowerThereIsSilence) {
  connect();
  server.host.detach_without_power();
  client.say("anybody?");
  client.host.connect("server:1");
  pass(seconds(10));
  EXPECT_EQ(client.closed, "");
  pass(seconds(20));
  EXPECT_EQ(client.closed, "Connection timed out");
}

TEST_F(Network, TellsThroughWhichDoorAConnectionCame) {
  server.host.listen("server:2", Door::kPeer);
  client.host.connect("server:2");
  pass(seconds(1));
  EXPECT_EQ(server.door, Door::kPeer);
}

TEST_F(Network, AMachineThatHasMovedRefusesAtItsOldAddress) {
  connect();
  server.host.detach_killed();
  server.host.attach(server, [this] { server.host.flush(); });
  server.host.listen("server:9", Door::kClient);
  client.host.connect("server:1");
  pass(seconds(1));
  EXPECT_EQ(client.closed, "Connection refused");
  client.connected = false;
  client.host.connect("server:9");
  pass(seconds(1));
  EXPECT_TRUE(client.connected);
}

TEST_F(Network, AcrossACutNothingArrivesAndNobodyIsTold) {
  connect();
  network.cut({"client", "server"});
  client.say("hello");
  pass(seconds(5));
  EXPECT_EQ(server.heard, "");
  EXPECT_EQ(client.closed, "");
}

TEST_F(Network, ACutOneWayLetsTheOtherPass) {
  connect();
  network.cut({"client", "server"});
  client.say("hello");
  server.say("welcome");
  pass(seconds(5));
  EXPECT_EQ(server.heard, "");
  EXPECT_EQ(client.heard, "welcome");
}

TEST_F(Network, WhatWasSentIntoACutArrivesInOrderOnceItHasHealed) {
  connect();
  network.cut({"client", "server"});
  network.cut({"client", "server"});
  client.say("one ");
  client.say("two ");
  network.heal({"client", "server"});
  pass(seconds(5));
  EXPECT_EQ(server.heard, "");
  network.heal({"client", "server"});
  client.say("three");
  pass(seconds(5));
  EXPECT_EQ(server.heard, "one two three");
}

TEST_F(Network, ALongCutEndsTheConnectionsThatWereUsedAcrossIt) {
  connect();
  network.cut({"client", "server"});
  client.say("hello");
  pass(seconds(25));
  EXPECT_EQ(client.closed, "Connection timed out");
  EXPECT_EQ(server.closed, "Connection timed out");
}

TEST_F(Network, ConnectingAcrossACutSucceedsWhenItHealsAndFailsOtherwise) {
  server.host.listen("server:1", Door::kClient);
  network.cut({"server", "client"});
  client.host.connect("server:1");
  pass(seconds(5));
  EXPECT_FALSE(client.connected);
  network.heal({"server", "client"});
  pass(seconds(5));
  EXPECT_TRUE(client.connected);

  network.cut({"client", "server"});
  client.host.connect("server:1");
  pass(seconds(30));
  EXPECT_EQ(client.closed, "Connection timed out");
}

TEST_F(Network, AWayMayBeLong) {
  connect();
  network.delay({"client", "server"}, milliseconds(100));
  client.say("hello");
  pass(milliseconds(99));
  EXPECT_EQ(server.heard, "");
  pass(milliseconds(10));
  EXPECT_EQ(server.heard, "hello");
}

TEST_F(Network, AProcessThatStandsStillHearsEverythingWhenItGoesOn) {
  connect();
  server.host.gate().close();
  client.say("hello");
  client.host.connect("server:1");
  pass(seconds(5));
  EXPECT_EQ(server.heard, "");
  const ConnectionId before = server.connection;
  server.host.gate().open();
  EXPECT_EQ(server.heard, "hello");
  EXPECT_NE(server.connection, before);
}

TEST_F(Network, AProcessThatIsKilledWhileItStandsStillHearsNothingMore) {
  connect();
  server.host.gate().close();
  client.say("hello");
  pass(seconds(1));
  server.host.detach_killed();
  server.host.gate().open();
  pass(seconds(1));
  EXPECT_EQ(server.heard, "");
  EXPECT_EQ(client.closed, "Connection reset by peer");
}

TEST_F(Network, WhoseOtherEndWasLostLearnsItWhenItSendsSomething) {
  connect();
  faults.half_open = 1;
  client.say("h");
  faults.half_open = 0;
  pass(seconds(5));
  EXPECT_EQ(client.closed, "Connection reset by peer");
  EXPECT_EQ(server.heard, "h");
  EXPECT_EQ(server.closed, "");
  server.say("anybody?");
  pass(seconds(1));
  EXPECT_EQ(server.closed, "Connection reset by peer");
}

TEST_F(Network, WhoseOtherEndWasLostLearnsItFromItsKernelWhereItSendsNothing) {
  faults.half_open = 1;
  connect();
  client.say("hello");
  faults.half_open = 0;
  pass(seconds(25));
  EXPECT_NE(client.closed, "");
  EXPECT_NE(server.closed, "");
  EXPECT_EQ(client.host.connections() + server.host.connections(), 0U);
}

TEST_F(Network, AConnectionThatDripsPassesAFewBytesAtATimeAndLosesNone) {
  connect();
  faults.dripping = 1;
  std::string said;
  for (int i = 0; i < 400; ++i) said += std::to_string(i) + ",";
  client.say(said);
  pass(milliseconds(20));
  EXPECT_LT(server.heard.size(), said.size() / 2);
  pass(seconds(60));
  EXPECT_EQ(server.heard, said);
}

// What is under way arrives; nothing new is held back.
TEST_F(Network, NoConnectionDripsAnyMoreWhereFaultsHaveEnded) {
  connect();
  faults.dripping = 1;
  client.say("hello");
  faults.dripping = 0;
  pass(seconds(1));
  const std::string much(3 << 20, 'x');
  client.say(much);
  pass(seconds(1));
  EXPECT_EQ(server.heard.size(), much.size() + 5);
}

TEST_F(Network, BeforeAResetHalfTheBytesArrive) {
  connect();
  faults.reset = 1;
  client.say("a");  // may be cut in two: neither half is whole
  pass(seconds(1));
  EXPECT_EQ(server.heard, "");
  EXPECT_EQ(server.closed, "Connection reset by peer");
  EXPECT_EQ(client.closed, "Connection reset by peer");
}

}  // namespace
}  // namespace ringkv::simulation
