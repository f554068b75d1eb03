// Rings for tests of edits.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "node/ring_changes.h"

namespace ringkv {

inline RingDescription ring_of_one() {
  RingDescription ring;
  ring.replicas = 3;
  ring.members = {{.node = NodeId{1}, .disk = DiskId{1}, .name = "n2", .rack = "a"}};
  ring.owners.assign(16, 0);
  ring.buckets = {BucketDescription()};
  ring.secret = std::string(32, 's');
  return ring;
}

inline Member joiner(uint64_t id, const std::string& name) {
  return {.node = NodeId{id}, .disk = DiskId{id}, .name = name, .rack = "b"};
}

inline std::vector<std::string> names_in(const std::vector<Member>& members) {
  std::vector<std::string> names;
  for (const Member& member : members) names.push_back(member.name);
  return names;
}

// With data; n2 and these.
inline RingDescription ring_of(const std::vector<std::string>& names) {
  RingDescription ring = ring_of_one();
  uint64_t id = 10;
  for (const std::string& name : names) ring = *joined(joiner(++id, name))(ring);
  return *opened()(ring);
}

// By the next epoch, as what every member can read.
inline RingDescription stepped(RingDescription ring) {
  ++ring.epoch;
  const auto decoded = decode_ring_description(encode_ring_description(ring));
  EXPECT_TRUE(decoded.ok()) << decoded.status().message();
  return ring;
}

inline std::vector<std::string> owner_names(const RingDescription& ring) {
  std::vector<std::string> names;
  for (const uint16_t owner : ring.owners) names.push_back(ring.members[owner].name);
  return names;
}

inline RingDescription ended(RingDescription ring) {
  ring = stepped(*switched(ring.epoch)(ring));
  EXPECT_TRUE(ring.change->switched);
  return stepped(*finished(ring.epoch)(ring));
}

}  // namespace ringkv
