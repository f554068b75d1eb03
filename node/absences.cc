#include "node/absences.h"

#include "base/peer_state.h"

namespace ringkv {

void Absences::look(const RingView& view, Time now) {
  given_up_.clear();
  if (long_enough_ <= Duration(0)) return;
  if (now > looked_at_ + kLooksApartMax) unreachable_since_.clear();
  looked_at_ = now;
  std::erase_if(unreachable_since_, [&](const auto& one) {
    return view.is_reachable(one.first) || view.ring().description().find_member(one.first) == nullptr;
  });
  for (const Member& member : view.ring().description().members) {
    if (!view.is_reachable(member.node)) unreachable_since_.try_emplace(member.node, now);
  }
  for (const auto& [node, since] : unreachable_since_) {
    if (now >= since + long_enough_ && given_up_.size() < kGivenUpMax) given_up_.push_back(node);
  }
}

}  // namespace ringkv
