// The scans that this node coordinates: carries the rounds of each to the owners and back.
#pragma once

#include <unordered_map>
#include <vector>

#include "replication/request_environment.h"
#include "replication/scan_request.h"

namespace ringkv {

class Scans {
 public:
  explicit Scans(RequestEnvironment& environment) : environment_(environment) {}

  // The question was checked, and there is room for it.
  void start(const Requester& requester, ScanRequest::Question question, Moment moment,
             MessageOutbox& outbox);

  void on(ReplicaScanReply reply, Moment moment, MessageOutbox& outbox);

  void wake(RequestNumber request, Moment moment, MessageOutbox& outbox);
  void on_ring(Moment moment, MessageOutbox& outbox);  // all go on from where they are, by the new lists
  void on_view(Moment moment, MessageOutbox& outbox);
  void on_link_restored(NodeId node, MessageOutbox& outbox) const;
  void fail_all(const Status& why, MessageOutbox& outbox);

  bool contains(RequestNumber request) const { return scans_.contains(request); }
  size_t size() const { return scans_.size(); }

 private:
  // Under a new number: what still comes of an earlier round finds nobody.
  void begin_round(ScanRequest scan, Moment moment, MessageOutbox& outbox);
  ScanRequest take(RequestNumber request);
  void finish(ScanRequest scan, Status status, Time now, MessageOutbox& outbox);

  RequestEnvironment& environment_;
  std::unordered_map<RequestNumber, ScanRequest> scans_;
};

}  // namespace ringkv
