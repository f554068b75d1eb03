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

// The whole SHA-1 of a key; its first 8 bytes are the token.
struct KeyDigest {
  std::array<uint8_t, 20> sha1{};

  friend bool operator==(const KeyDigest&, const KeyDigest&) = default;
};

KeyDigest digest_of(std::string_view bucket, std::string_view key);

// Which key it is, wherever its bytes aren't at hand: caches, latches, pins. Not the SHA-1 above: that is the
// same for key "b\0k" of the default bucket and key "k" of bucket "b", and colliding pairs of it are
// published. The first 128 bits of SHA-256 over the bucket's length, the bucket and the key.
struct KeyIdentity {
  std::array<uint8_t, 16> bytes{};

  friend bool operator==(const KeyIdentity&, const KeyIdentity&) = default;
};

KeyIdentity identity_of(std::string_view bucket, std::string_view key);

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
struct std::hash<ringkv::KeyIdentity> {
  size_t operator()(const ringkv::KeyIdentity& identity) const noexcept;
};
