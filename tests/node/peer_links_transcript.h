// Plays the other nodes against one node's links, message by message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <utility>
#include <vector>

#include "node/peer_links.h"
#include "tests/node/fake_transport.h"
#include "tests/node/peer_samples.h"

namespace ringkv {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr NodeId kSelf{0xA1}, kPeer{0xA2}, kOther{0xA3};
inline constexpr Boot kPeerBoot{0xB2};
inline const Address kAddress = "n2:1";

class PeerLinksTranscript : public testing::Test {
 protected:
  PeerLinksTranscript()
      : links(transport, clock, random, log, faults,
              {.hello =
                   [] {
                     PeerHello hello = sample_hello();
                     hello.node = kSelf;
                     return hello;
                   },
               .on_welcome =
                   [this](const PeerWelcome& welcome, const Address& address) {
                     welcomes.push_back({welcome.boot, address});
                     if (when_welcomed) when_welcomed();
                     return accept_welcome;
                   },
               .on_refused = [this](NodeId node, const Status& why) { refused.emplace_back(node, why); },
               .on_unreachable =
                   [this](NodeId node, const Status& why) {
                     unreachable.emplace_back(node, why);
                     if (when_unreachable) when_unreachable();
                   },
               .on_reachable =
                   [this](NodeId node, bool maybe_lost) {
                     reachable.push_back(node);
                     if (maybe_lost) restored.push_back(node);
                   }}) {
    links.set_address(kPeer, kAddress);
  }

  void pass(Duration time) {
    for (const Time end = clock.now() + time; clock.now() < end;) {
      clock.advance(milliseconds(10));
      links.on_tick(clock.now());
    }
  }

  void send(RequestNumber request, NodeId to = kPeer) {
    links.send(to, ReplicaGet{request, {}, "b", "k", false, false, false, clock.now() + seconds(1)}, 3, 17);
  }
  void send_large(size_t bytes, NodeId to = kPeer) {
    const auto record = std::make_shared<const std::string>(bytes, 'r');
    links.send(to, ReplicaPut{1, {}, "b", "k", record, {}, {}, true, clock.now() + seconds(1)}, 3, 17);
  }

  PeerHello connected(ConnectionId connection) {
    links.on_connected(connection);
    const std::string bytes = std::exchange(transport.output(connection), {});
    const auto frame = read_frame(bytes, kUnauthenticatedFrameBytesMax);
    EXPECT_TRUE(frame.ok() && frame->has_value());
    const Result<PeerHello> hello = codec.decode_hello(**frame);
    EXPECT_TRUE(hello.ok());
    return *hello;
  }
  void welcome(ConnectionId connection, NodeId as = kPeer, Boot boot = kPeerBoot) {
    connected(connection);
    welcome_greeted(connection, as, boot);
  }
  void welcome_greeted(ConnectionId connection, NodeId as = kPeer, Boot boot = kPeerBoot) {
    PeerWelcome welcome = sample_welcome();
    welcome.node = as;
    welcome.boot = boot;
    std::string bytes;
    codec.encode(welcome, bytes);
    links.on_bytes(connection, bytes);
  }
  void refuse(ConnectionId connection, const Status& why) {
    std::string bytes;
    codec.encode_refusal(why, bytes);
    links.on_bytes(connection, bytes);
  }
  void lose(ConnectionId connection) {
    transport.open.erase(connection);
    links.on_closed(connection, unavailable("Connection reset by peer"));
  }
  // Attempts come within two seconds.
  ConnectionId next_attempt() {
    const ConnectionId last = transport.last;
    for (int i = 0; i <= 200 && transport.last == last; ++i) pass(milliseconds(10));
    EXPECT_GT(transport.last, last);
    return transport.last;
  }
  // The requests link stands, and has for long enough to be trusted.
  ConnectionId standing_link() {
    send(1);
    const ConnectionId connection = transport.last;
    welcome(connection);
    transport.output(connection).clear();
    pass(seconds(2));
    return connection;
  }

  // Takes the numbers of the requests that were sent over a connection.
  std::vector<RequestNumber> sent(ConnectionId connection) {
    std::vector<RequestNumber> numbers;
    std::string bytes = std::exchange(transport.output(connection), {});
    while (!bytes.empty()) {
      const auto frame = read_frame(bytes, kFrameBytesMax);
      EXPECT_TRUE(frame.ok() && frame->has_value());
      const auto received = codec.decode(**frame, {}, clock.now());
      EXPECT_TRUE(received.ok());
      EXPECT_EQ(received->ring, (SenderRing{3, 17}));
      numbers.push_back((*frame)->request);
      bytes.erase(0, (*frame)->bytes);
    }
    return numbers;
  }
  using Numbers = std::vector<RequestNumber>;

  FakeClock clock;
  FakeTransport transport;
  SeededRandom random{1};
  NoLog log;
  PeerFaults faults;
  PeerCodec codec;
  bool accept_welcome = true;
  std::vector<std::pair<Boot, Address>> welcomes;
  std::vector<std::pair<NodeId, Status>> refused, unreachable;
  std::vector<NodeId> restored;  // where something may have been lost
  std::vector<NodeId> reachable;
  std::function<void()> when_welcomed, when_unreachable;
  PeerLinks links;
};

}  // namespace ringkv
