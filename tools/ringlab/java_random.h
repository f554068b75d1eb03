// java.util.Random as its documentation defines it: a linear congruential generator of 48 bits (Knuth, The
// Art of Computer Programming, volume 2, section 3.2.1). A published experiment drew its keys from it.
#pragma once

#include <bit>
#include <cstdint>

namespace ringkv::ringlab {

class JavaRandom {
 public:
  explicit JavaRandom(uint64_t seed) : state_((seed ^ kMultiplier) & kMask) {}

  // Uniform in [0, bound); bound is in [1, 2^31).
  uint32_t next_int(uint32_t bound) {
    uint32_t bits = next_31_bits();
    if (std::has_single_bit(bound)) return static_cast<uint32_t>(uint64_t{bound} * bits >> 31);
    // What lies above the last multiple of `bound` would favour small numbers: draw again.
    while (bits - bits % bound + (bound - 1) > 0x7FFF'FFFF) bits = next_31_bits();
    return bits % bound;
  }

 private:
  static constexpr uint64_t kMultiplier = 0x5DEECE66D;
  static constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;

  uint32_t next_31_bits() {
    state_ = (state_ * kMultiplier + 0xB) & kMask;
    return static_cast<uint32_t>(state_ >> 17);
  }

  uint64_t state_;
};

}  // namespace ringkv::ringlab
