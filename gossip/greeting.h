// How nodes introduce themselves: the first message on every connection between them, and its answer. A
// connection is bound to the node that it greeted as.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/peer_state.h"
#include "base/ring_description.h"
#include "base/time.h"
#include "base/transport.h"
#include "ringkv/status.h"

namespace ringkv {

// What the connection is for. Nothing but a welcome comes back on it, and messages go one way: each node
// dials for what it sends.
enum class PeerChannel : uint8_t {
  kControl = 0,   // gossip, probes, agreement
  kRequests = 1,  // copies and reads
  kIdentify = 2,  // only to learn who is there
};

// What two nodes must have in common to understand each other.
struct PeerVersions {
  uint32_t protocol = 0;
  uint32_t format = 0;  // of the data directory
};

struct PeerHello {
  uint32_t protocol = 0;
  uint32_t format = 0;  // of the data directory
  ClusterId cluster;    // zero: a joiner that doesn't know yet
  NodeId node;
  DiskId disk;
  Boot boot;
  uint64_t generation = 0;
  std::string name;
  Address peer_address;
  Address client_address;
  NodeId to;  // who is meant; zero: whoever is there
  uint64_t lineage = 0;
  uint64_t epoch = 0;
  PeerChannel channel = PeerChannel::kControl;
};

struct PeerWelcome {
  ClusterId cluster;
  NodeId node;
  DiskId disk;
  Boot boot;
  uint64_t generation = 0;
  std::string name;
  uint64_t lineage = 0;
  uint64_t epoch = 0;
  WallMicros wall = 0;            // its clock, so that who greets knows the cluster's time before it serves
  uint64_t generation_known = 0;  // the highest that it remembers of who greets
  std::vector<Boot>
      boots_known;  // earlier lives of who greets, on the same disk, that it has met; latest first
};

// Who it is, of one that greets as `self`; the rest is for each greeting to say.
inline PeerWelcome identity_of(const PeerHello& self) {
  return {.cluster = self.cluster,
          .node = self.node,
          .disk = self.disk,
          .boot = self.boot,
          .generation = self.generation,
          .name = self.name};
}

// From an empty directory (or one whose join was interrupted) to any member: the only message on its
// connection.
struct JoinRequest {
  uint32_t protocol = 0;
  uint32_t format = 0;
  NodeId node;
  DiskId disk;
  Boot boot;
  std::string name;
  std::string rack;
  double weight = 1;
  Address peer_address;
  Address client_address;
  // Founding settings that were given to the joiner: they must equal the ring's.
  std::optional<uint32_t> replicas;
  std::optional<uint32_t> partitions;
  std::optional<PlacerKind> placer;
  bool plan_only = false;  // waits until a plan takes it in
};

struct JoinAnswer {
  Status status;
  std::string description;       // of a ring that has the joiner as a member
  std::vector<PeerState> peers;  // where the others are
  bool not_yet = false;          // a refusal for now: it may go on asking until it is taken in
};

}  // namespace ringkv
