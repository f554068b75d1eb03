// One put (or delete) under way at its coordinator: from what it reads first to W acknowledgements (Dynamo
// paper, section 4.5), and on until its slow owners have it or a hint is kept for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "replication/messages.h"
#include "replication/owner_failures.h"
#include "replication/put_copies.h"
#include "replication/quorum.h"

namespace ringkv {

class PutRequest {
 public:
  struct Asked {
    std::string bucket;
    std::string key;
    Place place;
    Conflict conflict = Conflict::kSiblings;
    uint32_t w = 0;  // as asked; 0: the bucket's default
    bool primary = false;
    bool sync = true;
    Time deadline;
    OperationId operation;
    size_t held_bytes = 0;
    bool tombstone = false;
  };

  // It asks owners what there is to replace; nothing has been stamped.
  struct Reading {
    StampPut stamp;
    Quorum answers;
    CausalContext held;
  };
  // The own replica has been asked, and may have stamped it.
  struct Stamping {};
  // Stamped: the record is on its way to all owners.
  struct Replicating {
    SharedBytes record;
    CausalContext context;
    bool siblings_stay = false;
    PutCopies copies;
    bool answered = false;  // it lingers for its slow owners
  };
  using Stage = std::variant<Stamping, Reading, Replicating>;

  PutRequest(Requester requester, Asked asked, Time started)
      : asked_(std::move(asked)), requesters_{requester}, started_(started) {}

  // A retry of the same operation waits for the same outcome.
  void add_requester(Requester requester) { requesters_.push_back(requester); }

  Stage& stage() { return stage_; }
  const Stage& stage() const { return stage_; }
  bool may_be_written() const { return !std::holds_alternative<Reading>(stage_); }
  bool is_answered() const {
    const auto* replicating = std::get_if<Replicating>(&stage_);
    return replicating != nullptr && replicating->answered;
  }

  // Of an owner that was asked what it holds.
  void on_reply(const ReplicaGetReply& reply);
  // Of an owner that was sent the record, or of a node that was asked to keep it for one. Returns the hints
  // that aren't needed any more.
  std::vector<PutCopies::Hint> on_ack(const ReplicaPutAck& ack);

  OwnerFailures& failures() { return failures_; }
  const OwnerFailures& failures() const { return failures_; }

  const Asked& asked() const { return asked_; }
  const std::vector<Requester>& requesters() const { return requesters_; }
  Time started() const { return started_; }

 private:
  Asked asked_;
  std::vector<Requester> requesters_;
  Time started_;
  Stage stage_;
  OwnerFailures failures_;
};

}  // namespace ringkv
