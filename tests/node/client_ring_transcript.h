// A client that knows a ring of three nodes, n1 to n3, each played by the test.
#pragma once

#include <string>
#include <vector>

#include "replication/ring.h"
#include "tests/node/client_transcript.h"

namespace ringkv {

class ClientRingTranscript : public ClientTranscript {
 protected:
  static constexpr uint32_t kPartitions = 16;

  ClientRingTranscript() {
    ring.cluster = kCluster;
    ring.epoch = 5;
    epoch = 5;
    ring.replicas = 2;
    ring.secret = std::string(32, 's');
    ring.buckets = {{}};
    for (uint64_t i = 1; i <= 3; ++i) {
      const std::string name = "n" + std::to_string(i);
      ring.members.push_back({.node = NodeId{i}, .disk = DiskId{i}, .name = name, .rack = "a"});
      addresses.push_back({NodeId{i}, name + ":1"});
    }
    for (uint32_t partition = 0; partition < kPartitions; ++partition)
      ring.owners.push_back(static_cast<uint16_t>(partition % 3));
    make({.nodes = {"n1:1"}});
  }

  RoutingTable table() const { return {encode_ring_description(ring), addresses}; }

  // From here on the test speaks for the node at that address: over the connection that was opened last to
  // it.
  void speak_for(const Address& address) {
    talking_to = 0;
    for (size_t i = 0; i < transport.dialed.size(); ++i) {
      if (transport.dialed[i] == address && transport.open.contains(i + 1)) talking_to = i + 1;
    }
    ASSERT_NE(talking_to, 0U) << "nothing is open to " << address;
  }
  bool is_dialed(const Address& address) const {
    return std::find(transport.dialed.begin(), transport.dialed.end(), address) != transport.dialed.end();
  }
  size_t dials(const Address& address) const {
    return static_cast<size_t>(std::count(transport.dialed.begin(), transport.dialed.end(), address));
  }

  static Boot boot_of(uint64_t node) { return Boot{0xB0 + node}; }

  // The node greets.
  void serve(uint64_t node) {
    speak_for("n" + std::to_string(node) + ":1");
    welcome(boot_of(node), kCluster, kProtocolVersion, NodeId{node});
  }
  void answer_from(uint64_t node, uint64_t number, Status status, ClientReply::Body body = {}) {
    speak_for("n" + std::to_string(node) + ":1");
    answer(number, std::move(status), std::move(body), boot_of(node));
  }
  std::vector<Sent> sent_to(uint64_t node) {
    speak_for("n" + std::to_string(node) + ":1");
    return sent();
  }
  Sent sent_one_to(uint64_t node) {
    speak_for("n" + std::to_string(node) + ":1");
    return sent_one();
  }
  // The client asks for the ring here, and is told.
  void tell_ring(uint64_t node) {
    const Sent asked = sent_one_to(node);
    EXPECT_TRUE(std::holds_alternative<ClientRouting>(asked.request.body));
    answer_from(node, asked.number, {}, table());
  }

  // Connected to n1, with the ring.
  void know_ring() {
    pool->connect([](const Status&) {});
    serve(1);
    tell_ring(1);
  }
  // Connected to all three, with the ring.
  void know_all() {
    know_ring();
    for (const uint64_t node : {2, 3}) {
      const size_t get = submit_get(key_of(node));
      answer_from(1, sent_one_to(1).number, {}, GetResult{});
      EXPECT_TRUE(replies[get].has_value());
      serve(node);
    }
  }

  // A key whose owners are `first` and the next node; the n-th such key.
  static std::string key_of(uint64_t first, int nth = 0) {
    for (int i = 0;; ++i) {
      const std::string key = "key" + std::to_string(i);
      const Partition partition = partition_of(token_of(digest_of("", key)), kPartitions);
      // The last partition is n1's, and so is the first that follows it.
      if (partition != kPartitions - 1 && partition % 3 + 1 == first && nth-- == 0) return key;
    }
  }

  RingDescription ring;
  std::vector<RoutingTable::ClientAddress> addresses;
};

}  // namespace ringkv
