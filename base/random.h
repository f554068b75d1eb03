// Randomness is passed in: the simulator's comes from its seed, a real node's from the operating system.
#pragma once

#include <cstdint>

namespace ringkv {

class Random {
 public:
  virtual ~Random() = default;
  virtual uint64_t next() = 0;  // 64 random bits

  // Uniform in [0, bound); bound > 0. The bias of the remainder is below 2^-32 for the bounds that we use.
  uint64_t below(uint64_t bound) { return next() % bound; }
  bool one_in(uint64_t n) { return below(n) == 0; }
  double unit() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }  // [0, 1)
};

// SplitMix64 (Steele, Lea, Flood, 2014): small, and any seed is a good one.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}

  uint64_t next() override {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15ULL);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

}  // namespace ringkv
