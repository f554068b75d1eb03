// Plays other nodes against one node's door, message by message.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/peer_door.h"
#include "tests/node/fake_transport.h"
#include "tests/node/peer_samples.h"

namespace ringkv {

using std::chrono::seconds;

inline constexpr NodeId kA{0xA1}, kB{0xA2};
inline constexpr Boot kFirstBoot{0xB1}, kLaterBoot{0xB9};
inline constexpr SenderRing kSenderRing{3, 17};

struct Heard {
  NodeId from;
  SenderRing ring;
  PeerMessage message;
};

// Judges greetings when the test says so, and remembers what it is told.
class Reception final : public PeerReception {
 public:
  void on_hello(const PeerHello& hello, std::function<void(Result<PeerWelcome>)> answer) override {
    hellos.push_back(hello);
    answers.push_back(std::move(answer));
    if (welcomes_at_once) answers.back()(sample_welcome());
  }
  void on_join(const JoinRequest& request, std::function<void(JoinAnswer)> answer) override {
    joins.push_back(request);
    join_answers.push_back(std::move(answer));
  }
  void on_peer_message(NodeId from, uint64_t lineage, uint64_t epoch, PeerMessage&& message) override {
    heard.push_back({from, {lineage, epoch}, std::move(message)});
    if (on_heard) on_heard();
  }

  bool welcomes_at_once = true;
  std::vector<PeerHello> hellos;
  std::vector<std::function<void(Result<PeerWelcome>)>> answers;
  std::vector<JoinRequest> joins;
  std::vector<std::function<void(JoinAnswer)>> join_answers;
  std::vector<Heard> heard;
  std::function<void()> on_heard;
};

class PeerDoorTranscript : public testing::Test {
 protected:
  PeerDoorTranscript() { door.emplace(transport, clock, log, faults, reception); }

  ConnectionId accept() {
    transport.open[++transport.last] = {};
    door->on_accepted(transport.last, Door::kPeer, "127.0.0.1:9");
    return transport.last;
  }
  size_t say(ConnectionId connection, const std::string& bytes) { return door->on_bytes(connection, bytes); }
  // Says it byte by byte, as a stream may bring it.
  void say_slowly(ConnectionId connection, const std::string& bytes) {
    std::string unread;
    for (const char byte : bytes) {
      unread.push_back(byte);
      unread.erase(0, say(connection, unread));
    }
    EXPECT_TRUE(unread.empty());
  }

  std::string hello(NodeId node = kA, Boot boot = kFirstBoot, PeerChannel channel = PeerChannel::kRequests) {
    PeerHello hello = sample_hello();
    hello.node = node;
    hello.boot = boot;
    hello.channel = channel;
    std::string bytes;
    codec.encode(hello, bytes);
    return bytes;
  }
  std::string message(const PeerMessage& message) {
    std::string bytes;
    EXPECT_TRUE(codec.encode(message, kSenderRing, clock.now(), bytes).ok());
    return bytes;
  }
  std::string get(RequestNumber request) {
    return message(ReplicaGet{request, {}, "b", "k", false, false, false, clock.now() + seconds(1)});
  }
  ConnectionId greeted(NodeId node = kA, Boot boot = kFirstBoot,
                       PeerChannel channel = PeerChannel::kRequests) {
    const ConnectionId connection = accept();
    say(connection, hello(node, boot, channel));
    return connection;
  }

  // The frame that was sent over a connection, also over one that was closed behind it.
  std::optional<Frame> answer(ConnectionId connection) {
    const auto frame = read_frame(answers_ = transport.sent(connection), kFrameBytesMax);
    EXPECT_TRUE(frame.ok());
    return frame.ok() ? *frame : std::nullopt;
  }
  Status refusal(ConnectionId connection) {
    const std::optional<Frame> frame = answer(connection);
    if (!frame) return {};
    EXPECT_EQ(frame->type, FrameType::kPeerRefused);
    return codec.decode_welcome(*frame).status();
  }
  bool is_open(ConnectionId connection) const { return transport.open.contains(connection); }
  size_t heard() const { return reception.heard.size(); }
  void pass(Duration time) {
    clock.advance(time);
    door->on_tick(clock.now());
  }

  FakeClock clock;
  FakeTransport transport;
  NoLog log;
  PeerFaults faults;
  PeerCodec codec;
  Reception reception;
  std::optional<PeerDoor> door;

 private:
  std::string answers_;  // that the frame lies in
};

}  // namespace ringkv
