// Plays the nodes against a client's session, message by message: each test reads as what is said on the
// wire.
#pragma once

#include <gtest/gtest.h>

#include <optional>

#include "node/client_session.h"
#include "tests/node/fake_transport.h"

namespace ringkv {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr Boot kBoot{0xB1};
inline constexpr Boot kOtherBoot{0xB2};
inline constexpr ClusterId kCluster{0xC1};

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

}  // namespace ringkv
