// Keeps a log readable: what is said of a node again and again is said once, until something else is.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/ids.h"

namespace ringkv {

class SaidOnce {
 public:
  // True: it hasn't just been said.
  bool is_new(NodeId node, std::string_view text) {
    if (last_.size() >= kNodesMax) last_.clear();
    std::string& last = last_[node];
    if (last == text) return false;
    last = text;
    return true;
  }
  void forget(NodeId node) { last_.erase(node); }

 private:
  static constexpr size_t kNodesMax = 2000;

  std::map<NodeId, std::string> last_;
};

}  // namespace ringkv
