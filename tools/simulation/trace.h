// What happened, as one number: a hash over every event with its time, its place and its bytes. Two runs with
// the same hash were the same run. With a stream, also as text, one line an event.
#pragma once

#include <cstdint>
#include <ostream>
#include <string_view>

#include "base/log.h"
#include "base/time.h"

namespace ringkv::simulation {

class Trace {
 public:
  // Nothing: no text.
  explicit Trace(std::ostream* out) : out_(out) {}

  // `what` happened at `who`; `bytes` were delivered, written or said.
  void add(Time now, std::string_view who, std::string_view what, std::string_view bytes = {});
  void add(Time now, std::string_view who, std::string_view what, uint64_t bytes_hash, size_t bytes);

  // Only for the text: what a node remarks.
  void remark(Time now, std::string_view who, std::string_view room, std::string_view message);

  bool has_text() const { return out_ != nullptr; }
  uint64_t hash() const { return hash_; }

 private:
  std::ostream* const out_;
  uint64_t hash_ = 0;
};

// Of bytes, from a start; not for adversaries.
uint64_t hash_bytes(uint64_t start, std::string_view bytes);

}  // namespace ringkv::simulation
