#include "node/system_random.h"

#include <sys/random.h>

#include "base/check.h"

namespace ringkv {

uint64_t SystemRandom::next() {
  if (left_ == 0) {
    // Up to 256 bytes come whole, or the kernel has no randomness at all.
    static_assert(sizeof drawn_ <= 256);
    CHECK(::getrandom(drawn_.data(), sizeof drawn_, 0) == static_cast<ssize_t>(sizeof drawn_));
    left_ = drawn_.size();
  }
  return drawn_[--left_];
}

}  // namespace ringkv
