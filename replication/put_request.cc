#include "replication/put_request.h"

#include <algorithm>

namespace ringkv {

void PutRequest::on_ack(const StampPutAck& ack) {
  if (decided()) return;
  if (!ack.status.ok()) {
    quorum_.on_failure(ack.replica);
    // The stamping owner refused, so nothing was written anywhere.
    if (acknowledged_by_.empty()) refusal_ = ack.status;
    return;
  }
  quorum_.on_success(ack.replica);
  // Count replicas, not acks: a retried put is acknowledged twice.
  if (std::find(acknowledged_by_.begin(), acknowledged_by_.end(), ack.replica) == acknowledged_by_.end()) {
    acknowledged_by_.push_back(ack.replica);
  }
  if (ack.context) context_ = ack.context;  // the stamping owner's; the others hold the same record
}

}  // namespace ringkv
