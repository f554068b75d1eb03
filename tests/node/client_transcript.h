// Plays the nodes against a client, message by message: each test reads as what is said on the wire.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/client_pool.h"
#include "storage/record_codec.h"
#include "tests/node/fake_transport.h"

namespace ringkv {

using std::chrono::milliseconds;
using std::chrono::seconds;

inline constexpr Boot kBoot{0xB1};
inline constexpr Boot kOtherBoot{0xB2};
inline constexpr ClusterId kCluster{0xC1};

struct Sent {
  uint64_t number;
  uint64_t epoch;
  ClientRequest request;

  const ClientPut& put() const { return std::get<ClientPut>(request.body); }
};

class ClientTranscript : public testing::Test {
 protected:
  ClientTranscript() { make({.nodes = {"n1:1", "n2:1"}, .route = false}); }

  void make(const ClientOptions& options) { pool.emplace(options, transport, clock, random); }

  void pass(Duration time) {
    for (const Time end = clock.now() + time; clock.now() < end;) {
      clock.advance(milliseconds(10));
      pool->on_tick(clock.now());
    }
  }

  // The connection that was opened last, unless another is named here.
  ConnectionId connection() const { return talking_to != 0 ? talking_to : transport.last; }

  // The connection answers with a welcome.
  void welcome(Boot boot = kBoot, ClusterId cluster = kCluster, uint32_t protocol = kProtocolVersion,
               NodeId node = {1}) {
    pool->on_connected(connection());
    EXPECT_FALSE(transport.output(connection()).empty()) << "no greeting";
    transport.output(connection()).clear();
    std::string bytes;
    codec.encode(Welcome{protocol, cluster, node, "n", boot}, 1, bytes);
    receive(bytes);
  }

  void receive(const std::string& bytes) { pool->on_bytes(connection(), bytes); }

  void fail_connect(const std::string& why = "Connection refused") {
    const ConnectionId ended = connection();
    transport.open.erase(ended);
    pool->on_closed(ended, unavailable(why));
  }
  void break_connection() { fail_connect("Connection reset by peer"); }

  // Takes what the client has sent; not what it asks a quiet node, which counts in `asked_when_quiet`.
  std::vector<Sent> sent() {
    std::vector<Sent> requests;
    std::string& bytes = transport.output(connection());
    while (!bytes.empty()) {
      const auto frame = read_frame(bytes, kFrameBytesMax);
      EXPECT_TRUE(frame.ok() && frame->has_value());
      Result<ClientRequest> request = codec.decode_client_request(**frame);
      EXPECT_TRUE(request.ok()) << request.status().to_string();
      if (std::holds_alternative<ClientBuckets>(request->body)) {
        asked_when_quiet.push_back((*frame)->request);
      } else {
        requests.push_back({(*frame)->request, (*frame)->epoch, *request});
      }
      bytes.erase(0, (*frame)->bytes);
    }
    return requests;
  }
  Sent sent_one() {
    const std::vector<Sent> requests = sent();
    EXPECT_EQ(requests.size(), 1U);
    return requests.empty() ? Sent{0, 0, {}} : requests[0];
  }

  void answer(uint64_t number, Status status, ClientReply::Body body = {}, Boot boot = kBoot) {
    std::string bytes;
    codec.encode({std::move(status), std::move(body), epoch, boot, seen}, number, bytes);
    receive(bytes);
  }

  size_t submit(ClientRequest::Body body, Duration timeout = seconds(5)) {
    const size_t index = replies.size();
    replies.emplace_back();
    pool->submit({std::move(body), timeout}, [this, index](ClientReply reply) {
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

  // Time passes while the node does nothing but say that it is there.
  void pass_on_a_slow_node(Duration time) {
    for (const Time end = clock.now() + time; clock.now() < end;) {
      pass(milliseconds(10));
      (void)sent();
      for (const uint64_t number : std::exchange(asked_when_quiet, {}))
        answer(number, {}, std::vector<BucketInfo>{});
    }
  }

  static std::string context_of(const std::string& key, const Dot& dot) {
    CausalContext context;
    context.vector.raise(dot.actor, dot.counter);
    return encode_client_context(context, token_of(digest_of("", key)));
  }

  StatusCode code(size_t index) { return replies[index]->status.code(); }
  std::string message(size_t index) { return replies[index]->status.message(); }

  FakeTransport transport;
  FakeClock clock;
  SeededRandom random{1};
  WireCodec codec;
  std::optional<ClientPool> pool;
  std::vector<std::optional<ClientReply>> replies;
  ConnectionId talking_to = 0;
  uint64_t epoch = 1;  // of the nodes
  std::string seen;    // that they answer with
  std::vector<uint64_t> asked_when_quiet;
};

}  // namespace ringkv
