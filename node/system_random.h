// Randomness of the operating system. Not for several threads: one a loop.
#pragma once

#include <array>
#include <cstddef>

#include "base/random.h"

namespace ringkv {

class SystemRandom final : public Random {
 public:
  uint64_t next() override;

 private:
  std::array<uint64_t, 32> drawn_{};
  size_t left_ = 0;
};

}  // namespace ringkv
