#include "tools/simulation/trace.h"

#include <cstring>

#include "ringkv/text.h"

namespace ringkv::simulation {
namespace {

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * 0x9E3779B97F4A7C15ULL;
  return hash ^ (hash >> 29);
}

// Microseconds since the simulation began.
int64_t micros(Time now) { return (now.time_since_epoch() - Duration(std::chrono::hours(1))).count(); }

}  // namespace

uint64_t hash_bytes(uint64_t start, std::string_view bytes) {
  uint64_t hash = mix(start, bytes.size());
  while (bytes.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data(), sizeof word);
    hash = mix(hash, word);
    bytes.remove_prefix(sizeof word);
  }
  uint64_t rest = 0;
  if (!bytes.empty()) std::memcpy(&rest, bytes.data(), bytes.size());
  return mix(hash, rest);
}

void Trace::add(Time now, std::string_view who, std::string_view what, std::string_view bytes) {
  add(now, who, what, hash_bytes(0, bytes), bytes.size());
}

void Trace::add(Time now, std::string_view who, std::string_view what, uint64_t bytes_hash, size_t bytes) {
  hash_ = mix(hash_, static_cast<uint64_t>(micros(now)));
  hash_ = hash_bytes(hash_bytes(hash_, who), what);
  hash_ = mix(hash_, bytes_hash);
  if (out_ == nullptr) return;
  *out_ << micros(now) << ' ' << who << ' ' << what;
  if (bytes > 0) *out_ << ' ' << bytes << " bytes " << hex(bytes_hash);
  *out_ << '\n';
}

void Trace::remark(Time now, std::string_view who, std::string_view room, std::string_view message) {
  if (out_ != nullptr) *out_ << micros(now) << ' ' << who << " [" << room << "] " << message << '\n';
}

}  // namespace ringkv::simulation
