#include "replication/get_request.h"

#include <utility>

namespace ringkv {

void GetRequest::on_reply(ReplicaGetReply reply) {
  if (decided()) return;
  if (!reply.status.ok()) {
    quorum_.on_failure(reply.replica);
    failure_ = reply.status;
    return;
  }
  quorum_.on_success(reply.replica);
  record_ = replies_.empty() ? reply.record : merge(record_, reply.record);
  if (asked_.conflict == Conflict::kLastWriterWins) keep_winner(record_);
  replies_.push_back(std::move(reply));
}

}  // namespace ringkv
