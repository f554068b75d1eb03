// A key's place on the ring: the first 8 bytes, big-endian, of SHA-1 (Dynamo paper, section 4.2, with SHA-1).
//
// In the default bucket the hashed bytes are the key alone, so that anyone can check with sha1sum; in other
// buckets they are the bucket's name, a zero byte, the key.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace ringkv {

using Token = uint64_t;
using Partition = uint32_t;

// The whole SHA-1. Its first 128 bits identify a key wherever the key's bytes aren't at hand (caches,
// latches); its token places the key. The two are apart, so that a simulated ring may shorten tokens without
// mixing keys.
struct KeyDigest {
  std::array<uint8_t, 20> sha1{};

  friend bool operator==(const KeyDigest&, const KeyDigest&) = default;
};

KeyDigest digest_of(std::string_view bucket, std::string_view key);

// SHA-1 of any bytes (virtual nodes, ring descriptions).
KeyDigest sha1_of(std::string_view bytes);

// The token of a digest; the function that every real node uses.
Token token_of(const KeyDigest& digest);

// A node takes this as a setting so that simulations and HashRing can cut tokens short (colliding tokens).
using TokenFunction = Token (*)(const KeyDigest&);

// The ring is cut into `partitions` equal parts (a power of two): the token's top bits.
Partition partition_of(Token token, uint32_t partitions);

// First token of a partition.
Token first_token_of(Partition partition, uint32_t partitions);

}  // namespace ringkv

template <>
struct std::hash<ringkv::KeyDigest> {
  size_t operator()(const ringkv::KeyDigest& digest) const noexcept;
};
