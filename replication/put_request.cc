#include "replication/put_request.h"

namespace ringkv {

// An owner whose epoch is newer has refused nothing: the newer ring is on its way here, and the put goes out
// again by it.
void PutRequest::on_reply(const ReplicaGetReply& reply) {
  auto* reading = std::get_if<Reading>(&stage_);
  if (reading == nullptr || reply.status.code() == StatusCode::kStaleEpoch) return;
  if (reply.status.ok()) {
    reading->answers.on_success(reply.replica);
    reading->held.join(reply.record.context);
  } else {
    reading->answers.on_failure(reply.replica);
    failures_.add(reply.replica, reply.status.message());
  }
}

void PutRequest::on_ack(NodeId replica, const Status& status) {
  auto* replicating = std::get_if<Replicating>(&stage_);
  if (replicating == nullptr || status.code() == StatusCode::kStaleEpoch) return;
  if (status.ok()) {
    replicating->acks.on_success(replica);
  } else {
    replicating->acks.on_failure(replica);
    failures_.add(replica, status.message());
  }
}

}  // namespace ringkv
