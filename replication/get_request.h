// One get under way at its coordinator: from the question to R answers and what they come to (Dynamo paper,
// section 4.5).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replication/messages.h"
#include "replication/quorum.h"

namespace ringkv {

// What the answer is for: all of them are a read of the key's replicas.
enum class GetPurpose : uint8_t { kGet, kExists, kLocalGet, kExplain, kRetriedPut };

class GetRequest {
 public:
  struct Asked {
    std::vector<NodeId> owners;
    uint32_t read_quorum = 1;
    Time deadline;
    Place place;
    std::string key;
    Conflict conflict = Conflict::kSiblings;
    GetPurpose purpose = GetPurpose::kGet;
    OperationId operation;  // of a retried put: the answer is its receipt, if the record still holds it
    Boot first_tried;
  };

  GetRequest(Requester requester, Asked asked, Time started)
      : asked_(std::move(asked)),
        quorum_(asked_.owners, asked_.read_quorum),
        requester_(requester),
        started_(started) {}

  void on_reply(ReplicaGetReply reply);

  bool decided() const { return quorum_.reached() || !quorum_.possible(); }
  bool succeeded() const { return quorum_.reached(); }
  const Status& failure() const { return failure_; }  // of the last owner that failed

  // The replies so far, merged, and apart.
  const Record& record() const { return record_; }
  const std::vector<ReplicaGetReply>& replies() const { return replies_; }

  const Asked& asked() const { return asked_; }
  const Requester& requester() const { return requester_; }
  Time started() const { return started_; }

 private:
  const Asked asked_;
  Quorum quorum_;
  const Requester requester_;
  const Time started_;
  Record record_;
  std::vector<ReplicaGetReply> replies_;
  Status failure_;
};

}  // namespace ringkv
