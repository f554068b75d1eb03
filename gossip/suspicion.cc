#include "gossip/suspicion.h"

#include <algorithm>
#include <cmath>

namespace ringkv {

void Suspicion::confirm(NodeId accuser) {
  if (accusers_.size() > patience_.confirmations) return;
  if (std::find(accusers_.begin(), accusers_.end(), accuser) != accusers_.end()) return;
  accusers_.push_back(accuser);
}

bool Suspicion::observe(NodeId self) {
  if (observed_) return false;
  observed_ = true;
  confirm(self);
  const auto own = std::find(accusers_.begin(), accusers_.end(), self);
  if (own != accusers_.end()) {
    std::iter_swap(accusers_.begin(), own);
  } else {
    accusers_.front() = self;  // all places were taken: the number of accusers stays what it is
  }
  return true;
}

// Logarithmic: the first confirmation says more than the third.
Time Suspicion::ends() const {
  const double confirmed = std::log(static_cast<double>(accusers_.size())) /
                           std::log(static_cast<double>(patience_.confirmations) + 1);
  const Duration saved{static_cast<Duration::rep>(
      confirmed * static_cast<double>((patience_.longest - patience_.shortest).count()))};
  return since_ + std::max(patience_.shortest, patience_.longest - saved);
}

}  // namespace ringkv
