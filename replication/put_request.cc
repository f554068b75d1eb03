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

std::vector<PutCopies::Hint> PutRequest::on_ack(const ReplicaPutAck& ack) {
  auto* replicating = std::get_if<Replicating>(&stage_);
  if (replicating == nullptr || ack.status.code() == StatusCode::kStaleEpoch) return {};
  PutCopies& copies = replicating->copies;
  if (ack.hint_for) {
    const PutCopies::Hint hint{.intended = ack.hint_for, .keeper = ack.replica};
    if (!ack.status.ok()) {
      copies.on_hint_refused(hint);
      failures_.add(ack.replica, "keeps no hint: " + ack.status.message());
    } else if (copies.on_hint_kept(hint)) {
      return {hint};
    }
    return {};
  }
  if (ack.status.ok()) return copies.on_held(ack.replica);
  copies.on_refused(ack.replica, ack.status);
  failures_.add(ack.replica, ack.status.message());
  return {};
}

}  // namespace ringkv
