// The limit on what each member takes in that an operator has set, for all of them: gossip carries it, and
// the one that was set last holds. Nobody has to agree on it, since keeping to an older one harms nothing.
#pragma once

#include <algorithm>
#include <tuple>

#include "base/peer_state.h"

namespace ringkv {

class TransferLimit {
 public:
  // Later than whatever is known, whoever's clock is ahead.
  void set(uint64_t bytes_per_second, WallMicros now) {
    set_at_ = std::max(now, set_at_ + 1);
    bytes_per_second_ = bytes_per_second;
  }
  void hear(const PeerState& state) {
    if (state.transfer_limit_set_at > kSetAtMax) return;
    std::tie(set_at_, bytes_per_second_) =
        std::max(std::tuple(set_at_, bytes_per_second_),
                 std::tuple(state.transfer_limit_set_at, state.transfer_limit));
  }

  uint64_t bytes_per_second() const { return bytes_per_second_; }  // 0: none
  WallMicros set_at() const { return set_at_; }                    // 0: never

 private:
  static constexpr WallMicros kSetAtMax = WallMicros{1} << 62;  // beyond is no time

  uint64_t bytes_per_second_ = 0;
  WallMicros set_at_ = 0;
};

}  // namespace ringkv
