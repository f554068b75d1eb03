// Owners that were asked by a get and had not answered when it was: those that then answer with something
// else are brought up to date in the background. Bounded; what doesn't fit is left to the next read.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "replication/get_request.h"
#include "replication/messages.h"

namespace ringkv {

class Stragglers {
 public:
  static constexpr size_t kGetsMax = 1'000;
  static constexpr size_t kHeldBytesMax = size_t{8} << 20;

  // Of a get that was resolved, if it still awaits somebody.
  void add(RequestNumber request, const GetRequest& get);

  // The copy to send, if the reply is one of these and differs. It has no number: nobody waits for it.
  std::optional<ReplicaPut> on(const ReplicaGetReply& reply);

  void expire(RequestNumber request, Time now);
  void clear();

  bool contains(RequestNumber request) const { return gets_.contains(request); }
  size_t size() const { return gets_.size(); }

 private:
  struct Get {
    std::vector<NodeId> awaited;
    ReplicaPut copy;
    CausalContext context;
    Hash128 hash;
  };

  void erase(RequestNumber request);

  std::unordered_map<RequestNumber, Get> gets_;
  size_t held_bytes_ = 0;
};

// The merged record of a get as a copy for an owner that differs.
ReplicaPut repair_of(const GetRequest& get);

}  // namespace ringkv
