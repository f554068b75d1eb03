// The hashes by which the laboratory places keys and nodes: ours, and those of the published figures that it
// reproduces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ringkv::ringlab {

struct Hash {
  std::string name;
  int bits = 64;  // values are below 2^bits
  uint64_t (*function)(std::string_view bytes) = nullptr;

  uint64_t operator()(std::string_view bytes) const { return function(bytes); }

  // Any value stretched to 64 bits, order kept: where a scheme reads the top bits.
  uint64_t stretched(uint64_t value) const { return value << (64 - bits); }

  // The circle's circumference, 2^bits.
  double circle() const;
};

// First 8 bytes, big-endian, of SHA-1: the nodes' own token.
uint64_t sha1(std::string_view bytes);

// Fowler, Noll, Vo: offset basis 2166136261, prime 16777619; each byte is xored, then multiplied.
uint64_t fnv1a32(std::string_view bytes);

// FNV-1a followed by the 32-bit finalizer of MurmurHash3 (Appleby): FNV leaves similar names near each other.
uint64_t fnv1a32_fmix32(std::string_view bytes);

// MurmurHash3_x64_128 (Appleby), seed 0, its first 64 bits.
uint64_t murmur3_128(std::string_view bytes);

// The 64-bit finalizer of MurmurHash3: a bijection in which each bit of the input reaches all of the output.
uint64_t fmix64(uint64_t value);

const std::vector<Hash>& hashes();

// One of hashes(); the name must be there.
const Hash& hash_named(std::string_view name);

}  // namespace ringkv::ringlab
