#include "tools/ringlab/hashes.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "base/token.h"

namespace ringkv::ringlab {
namespace {

constexpr uint64_t kMurmurFirst = 0x87c37b91114253d5;
constexpr uint64_t kMurmurSecond = 0x4cf5ad432745937f;

// Little-endian; the bytes that are missing are zero.
uint64_t word_at(std::string_view bytes, size_t at) {
  uint64_t word = 0;
  for (size_t i = std::min<size_t>(at + 8, bytes.size()); i > at; --i)
    word = word << 8 | static_cast<uint8_t>(bytes[i - 1]);
  return word;
}

uint64_t scramble_first(uint64_t word) { return std::rotl(word * kMurmurFirst, 31) * kMurmurSecond; }
uint64_t scramble_second(uint64_t word) { return std::rotl(word * kMurmurSecond, 33) * kMurmurFirst; }

uint32_t fmix32(uint32_t h) {
  h ^= h >> 16;
  h *= 2246822507U;
  h ^= h >> 13;
  h *= 3266489909U;
  h ^= h >> 16;
  return h;
}

}  // namespace

double Hash::circle() const { return std::ldexp(1.0, bits); }

uint64_t sha1(std::string_view bytes) { return token_of(sha1_of(bytes)); }

uint64_t fnv1a32(std::string_view bytes) {
  uint32_t h = 2166136261U;
  for (const char byte : bytes) h = (h ^ static_cast<uint8_t>(byte)) * 16777619U;
  return h;
}

uint64_t fnv1a32_fmix32(std::string_view bytes) { return fmix32(static_cast<uint32_t>(fnv1a32(bytes))); }

uint64_t murmur3_128(std::string_view bytes) {
  uint64_t h1 = 0;
  uint64_t h2 = 0;
  size_t at = 0;
  for (; bytes.size() - at >= 16; at += 16) {
    h1 = (std::rotl(h1 ^ scramble_first(word_at(bytes, at)), 27) + h2) * 5 + 0x52dce729;
    h2 = (std::rotl(h2 ^ scramble_second(word_at(bytes, at + 8)), 31) + h1) * 5 + 0x38495ab5;
  }
  h2 ^= scramble_second(word_at(bytes, at + 8));
  h1 ^= scramble_first(word_at(bytes, at));
  h1 ^= bytes.size();
  h2 ^= bytes.size();
  h1 += h2;
  h2 += h1;
  return fmix64(h1) + fmix64(h2);
}

uint64_t fmix64(uint64_t value) {
  value ^= value >> 33;
  value *= 0xff51afd7ed558ccd;
  value ^= value >> 33;
  value *= 0xc4ceb9fe1a85ec53;
  value ^= value >> 33;
  return value;
}

const std::vector<Hash>& hashes() {
  static const std::vector<Hash> all = {{"sha1", 64, &sha1},
                                        {"fnv1a32", 32, &fnv1a32},
                                        {"fnv1a32+fmix32", 32, &fnv1a32_fmix32},
                                        {"murmur3_128", 64, &murmur3_128}};
  return all;
}

const Hash& hash_named(std::string_view name) {
  const auto found =
      std::find_if(hashes().begin(), hashes().end(), [&](const Hash& hash) { return hash.name == name; });
  CHECK(found != hashes().end());
  return *found;
}

}  // namespace ringkv::ringlab
