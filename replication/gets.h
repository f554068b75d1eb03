// The reads that this node coordinates. Any node does: to ask the owners itself is one hop less than to have
// an owner ask them.
//
// A get is answered once it is confirmed, or marked as unconfirmed where too few owners can be reached in
// time. Owners that differ are repaired: on the way, as far as the confirmation needs them, or afterwards.
#pragma once

#include <unordered_map>
#include <vector>

#include "replication/get_request.h"
#include "replication/latency_estimate.h"
#include "replication/request_environment.h"
#include "replication/stragglers.h"

namespace ringkv {

class Gets {
 public:
  static constexpr Duration kHedgeAfterMin = std::chrono::milliseconds(2);
  // Until a node's answers have been measured.
  static constexpr Duration kHedgeAfterUnmeasured = std::chrono::milliseconds(50);

  explicit Gets(RequestEnvironment& environment) : environment_(environment) {}

  // The question was checked, and there is room for it.
  void start(const Requester& requester, GetRequest::Question question, Moment moment, MessageOutbox& outbox);

  void on(ReplicaGetReply reply, Moment moment, MessageOutbox& outbox);
  void on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);

  void wake(RequestNumber request, Moment moment, MessageOutbox& outbox);
  void on_ring(Moment moment, MessageOutbox& outbox);  // all begin anew
  void on_view(Moment moment, MessageOutbox& outbox);
  void on_link_restored(NodeId node, MessageOutbox& outbox) const;
  void fail_all(const Status& why, MessageOutbox& outbox);

  bool contains(RequestNumber request) const {
    return gets_.contains(request) || stragglers_.contains(request);
  }
  size_t size() const { return gets_.size(); }

 private:
  Result<GetRequest::Plan> plan(const GetRequest::Question& question) const;
  void plan_other_list(const GetRequest::Question& question, const BucketDescription& bucket,
                       GetRequest::Plan& plan) const;
  void insert(RequestNumber request, GetRequest get);
  void advance(RequestNumber request, Moment moment, MessageOutbox& outbox);
  bool advance_repair(RequestNumber request, GetRequest& get, Moment moment, MessageOutbox& outbox);
  void ask(const GetRequest& get, RequestNumber request, GetRequest::Ask ask, MessageOutbox& outbox) const;
  void repair(const GetRequest& get, RequestNumber request, const std::vector<NodeId>& owners,
              MessageOutbox& outbox) const;
  void set_alarm(RequestNumber request, const GetRequest& get);
  void finish(RequestNumber request, ClientReply reply, Time now, MessageOutbox& outbox);
  Duration allowance(NodeId node) const;

  RequestEnvironment& environment_;
  std::unordered_map<RequestNumber, GetRequest> gets_;
  Stragglers stragglers_;
  std::unordered_map<NodeId, LatencyEstimate> latencies_;
};

}  // namespace ringkv
