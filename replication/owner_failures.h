// Why owners can't be counted on: for the messages that people read.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "replication/ring_view.h"

namespace ringkv {

class OwnerFailures {
 public:
  void add(NodeId owner, std::string why) { failures_.push_back({owner, std::move(why)}); }
  void add(const RingView& view, const std::vector<NodeId>& owners) {
    for (const NodeId owner : owners) {
      if (!view.is_reachable(owner)) add(owner, "can't be reached");
    }
  }

  // "; n2: can't be reached; n3: isn't whole yet", or nothing.
  std::string text(const RingView& view) const {
    std::string text;
    for (const Failure& failure : failures_) text += "; " + view.name_of(failure.owner) + ": " + failure.why;
    return text;
  }

 private:
  struct Failure {
    NodeId owner;
    std::string why;
  };
  std::vector<Failure> failures_;
};

}  // namespace ringkv
