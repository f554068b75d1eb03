#include "tools/kvbench/key_choice.h"

namespace ringkv::tools {
namespace {

// YCSB draws from so many ranks whatever the number of keys, so that the share of the hottest key (3.8 %)
// doesn't depend on it; figures can be compared with its.
constexpr uint64_t kScrambledRanks = 10'000'000'000;

// FNV-1a of the rank's bytes, 64 bits: spreads the hot ranks over all keys.
uint64_t scrambled(uint64_t rank) {
  uint64_t hash = 0xCBF29CE484222325;
  for (int byte = 0; byte < 8; ++byte) {
    hash ^= rank & 0xFF;
    hash *= 0x100000001B3;
    rank >>= 8;
  }
  return hash;
}

double unit(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1.0p-53; }

}  // namespace

KeyChoice::KeyChoice(const Distribution& distribution)
    : distribution_(distribution),
      ranks_(distribution.kind == Distribution::Kind::kZipfian ? kScrambledRanks : 1) {}

uint64_t KeyChoice::choose(uint64_t keys, std::mt19937_64& random) {
  switch (distribution_.kind) {
    case Distribution::Kind::kUniform:
      break;
    case Distribution::Kind::kZipfian:
      return scrambled(ranks_.rank(unit(random))) % keys;
    case Distribution::Kind::kLatest:
      if (ranks_.items() != keys) ranks_ = ZipfianRanks(keys);
      return keys - 1 - ranks_.rank(unit(random));
    case Distribution::Kind::kHotspot:
      if (unit(random) < distribution_.hot_share) return 0;
      break;
  }
  return random() % keys;
}

}  // namespace ringkv::tools
