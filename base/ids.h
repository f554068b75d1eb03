// Who is who. All identities are 64 random bits: drawn, never counted, so that nothing that was lost,
// copied or restored can be drawn a second time.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace ringkv {

template <class Tag>
struct Id {
  uint64_t value = 0;

  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Id&, const Id&) = default;
};

using NodeId = Id<struct NodeTag>;        // a node; lives in its data directory's IDENTITY
using DiskId = Id<struct DiskTag>;        // made with the data directory: a wiped directory gets another
using ClusterId = Id<struct ClusterTag>;  // drawn by the founder
using Boot = Id<struct BootTag>;          // drawn at every start of the store

// Who stamps versions: one life of one node's store. Only the life that stamped
// {A: 12} can vouch that it covers every earlier dot of A, so a counter never survives a start.
struct Actor {
  NodeId node;
  Boot boot;

  friend auto operator<=>(const Actor&, const Actor&) = default;
};

// One version: the counter-th event that `actor` stamped. Counters start at 1.
struct Dot {
  Actor actor;
  uint64_t counter = 0;

  friend auto operator<=>(const Dot&, const Dot&) = default;
};

// Names one operation of one client, so that a retry is recognised. Zero: the client gave none.
struct OperationId {
  uint64_t client = 0;    // random bits of the client
  uint64_t sequence = 0;  // counted by the client

  explicit operator bool() const { return client != 0 || sequence != 0; }
  friend auto operator<=>(const OperationId&, const OperationId&) = default;
};

}  // namespace ringkv

template <class Tag>
struct std::hash<ringkv::Id<Tag>> {
  size_t operator()(const ringkv::Id<Tag>& id) const noexcept { return id.value; }
};

template <>
struct std::hash<ringkv::OperationId> {
  size_t operator()(const ringkv::OperationId& id) const noexcept {
    return id.client ^ (id.sequence * 0x9E3779B97F4A7C15ULL);
  }
};
