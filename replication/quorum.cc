#include "replication/quorum.h"

#include <algorithm>

namespace ringkv {

bool Quorum::forget(NodeId node) {
  const auto at = std::find(waiting_.begin(), waiting_.end(), node);
  if (at == waiting_.end()) return false;
  waiting_.erase(at);
  return true;
}

void Quorum::on_success(NodeId node) {
  if (forget(node)) ++succeeded_;
}

void Quorum::on_failure(NodeId node) { forget(node); }

}  // namespace ringkv
