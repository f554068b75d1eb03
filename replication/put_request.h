// One put (or delete) under way at its coordinator: from the stamp to W acknowledgements (Dynamo paper,
// section 4.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replication/messages.h"
#include "replication/quorum.h"

namespace ringkv {

class PutRequest {
 public:
  struct Asked {
    std::vector<NodeId> owners;
    uint32_t write_quorum = 1;
    bool sync = true;
    Time deadline;
    OperationId operation;
    Token place_token = 0;
    std::string key;
    size_t held_bytes = 0;
    bool tombstone = false;
  };

  PutRequest(Requester requester, Asked asked, Time started)
      : asked_(std::move(asked)),
        quorum_(asked_.owners, asked_.write_quorum),
        requesters_{requester},
        started_(started) {}

  // A retry of the same operation waits for the same outcome.
  void add_requester(Requester requester) { requesters_.push_back(requester); }

  void on_ack(const StampPutAck& ack);

  // Decided: enough have acknowledged, or it was refused before anything was written.
  bool decided() const { return !refusal_.ok() || quorum_.reached(); }
  const Status& refusal() const { return refusal_; }
  const std::vector<NodeId>& acknowledged_by() const { return acknowledged_by_; }
  const std::optional<CausalContext>& context() const { return context_; }

  const Asked& asked() const { return asked_; }
  const std::vector<Requester>& requesters() const { return requesters_; }
  Time started() const { return started_; }

 private:
  const Asked asked_;
  Quorum quorum_;
  std::vector<Requester> requesters_;
  const Time started_;
  std::vector<NodeId> acknowledged_by_;
  std::optional<CausalContext> context_;
  Status refusal_;
};

}  // namespace ringkv
