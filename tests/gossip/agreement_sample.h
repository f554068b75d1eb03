// Three voters and the ring that they hold, and short ways to read what a core wants sent.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gossip/electorate.h"
#include "gossip/messages.h"

namespace ringkv::agreement_sample {

// Node n has disk 10 n, and lives as boot 100 n.
constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};

inline Voter voter(NodeId node) { return {node, DiskId{10 * node.value}, Boot{100 * node.value}}; }
inline Boot boot_of(NodeId node) { return voter(node).boot; }

inline Electorate ring_of(const std::vector<NodeId>& nodes, uint64_t epoch = 4) {
  Electorate ring{.epoch = epoch, .digest = "digest of " + std::to_string(epoch)};
  for (const NodeId node : nodes) ring.seats.push_back({node, voter(node).disk});
  return ring;
}

inline Ballot ballot(uint64_t round, NodeId node = kA) { return {round, node, boot_of(node)}; }

inline Prepare prepare(const Ballot& ballot) { return {5, "digest of 4", ballot}; }
inline Accept accept(const Ballot& ballot, std::string value) {
  return {5, "digest of 4", ballot, std::move(value)};
}
inline Promise promise(NodeId from, const Ballot& ballot) { return {5, ballot, voter(from), ballot, {}, ""}; }
inline Accepted accepted(NodeId from, const Ballot& ballot) { return {5, ballot, voter(from), ballot}; }

// The messages of one kind, and that no others are there.
template <class Message>
std::vector<Message> all(GossipOutbox& outbox) {
  std::vector<Message> found;
  for (const GossipOutbox::Envelope& envelope : outbox.envelopes()) {
    const auto* message = std::get_if<Message>(&envelope.message);
    if (message == nullptr) {
      ADD_FAILURE() << "a message of kind " << envelope.message.index();
    } else {
      found.push_back(*message);
    }
  }
  return found;
}

inline std::vector<NodeId> receivers(GossipOutbox& outbox) {
  std::vector<NodeId> nodes;
  for (const GossipOutbox::Envelope& envelope : outbox.envelopes()) nodes.push_back(envelope.to);
  return nodes;
}

}  // namespace ringkv::agreement_sample
