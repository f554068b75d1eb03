// Who votes for the next ring, and in which of their lives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "base/ids.h"

namespace ringkv {

// The ring as agreement sees it. A vote belongs to a seat: a node with the disk that the ring names.
struct Electorate {
  struct Seat {
    NodeId node;
    DiskId disk;

    friend bool operator==(const Seat&, const Seat&) = default;
  };

  uint64_t lineage = 1;
  uint64_t epoch = 0;  // of the ring held
  std::string digest;  // of its description
  std::vector<Seat> seats;

  bool has_seat(NodeId node, DiskId disk) const {
    return std::find(seats.begin(), seats.end(), Seat{node, disk}) != seats.end();
  }
  size_t majority() const { return seats.size() / 2 + 1; }
  bool is_before(const Electorate& other) const {
    return std::tie(lineage, epoch) < std::tie(other.lineage, other.epoch);
  }
};

// The latest life known of a node; zero: none.
using BootOf = std::function<Boot(NodeId)>;

}  // namespace ringkv
