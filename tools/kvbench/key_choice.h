// Draws the key of each request from a distribution over those that are there now.
#pragma once

#include <cstdint>
#include <random>

#include "tools/kvbench/settings.h"
#include "tools/kvbench/zipfian.h"

namespace ringkv::tools {

class KeyChoice {
 public:
  explicit KeyChoice(const Distribution& distribution);

  // Of keys 0 … keys - 1; there is at least one.
  uint64_t choose(uint64_t keys, std::mt19937_64& random);

 private:
  const Distribution distribution_;
  ZipfianRanks ranks_;
};

}  // namespace ringkv::tools
