// The register in which each epoch's ring description is chosen: epoch e + 1 by a majority of the voters of
// epoch e. The description is bytes here; nothing in this room knows what a ring is.
//
// In a cluster of one the only voter is its own majority: a description is chosen when it is on that voter's
// disk. What is not there yet: ballots between several voters (Lamport, "The part-time parliament", 1998, one
// decree an epoch).
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/ids.h"
#include "base/outbox.h"
#include "ringkv/status.h"

namespace ringkv {

struct RingChosen {
  uint64_t epoch = 0;
  std::string description;
};

class EpochRegister {
 public:
  EpochRegister(NodeId self, uint64_t epoch) : self_(self), epoch_(epoch) {}

  // Asks that `description` be the ring of the epoch after this one. RingChosen follows once it is on disk
  // under `record_key`. UNAVAILABLE while another change is under way: try again.
  Status propose(std::string description, std::string record_key, Outbox<RingChosen>& outbox);

  void on(const RingChosen& chosen);

  uint64_t epoch() const { return epoch_; }

 private:
  const NodeId self_;
  uint64_t epoch_;
  bool proposing_ = false;
};

}  // namespace ringkv
