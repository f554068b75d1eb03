#include "replication/scans.h"

#include <algorithm>
#include <utility>

namespace ringkv {

void Scans::start(const Requester& requester, ScanRequest::Question question, Moment moment,
                  MessageOutbox& outbox) {
  begin_round(ScanRequest(requester, std::move(question), moment.now), moment, outbox);
}

void Scans::begin_round(ScanRequest scan, Moment moment, MessageOutbox& outbox) {
  std::vector<std::pair<NodeId, ReplicaScan>> asks = scan.begin_round(environment_.view, moment.now);
  if (asks.empty()) {
    Status blocked = scan.has_progress() ? Status() : scan.blocked();
    return finish(std::move(scan), std::move(blocked), moment.now, outbox);
  }
  const RequestNumber request = environment_.numbers.next();
  environment_.numbers.wake(request, scan.question().deadline);
  environment_.numbers.wake(request, moment.now + ScanRequest::kPatience);
  for (auto& [node, ask] : asks) {
    ask.request = request;
    outbox.send(node, std::move(ask));
  }
  scans_.emplace(request, std::move(scan));
}

ScanRequest Scans::take(RequestNumber request) {
  auto taken = scans_.extract(request);
  environment_.held_bytes -= taken.mapped().held_bytes();
  return std::move(taken.mapped());
}

void Scans::on(ReplicaScanReply reply, Moment moment, MessageOutbox& outbox) {
  const auto at = scans_.find(reply.request);
  if (at == scans_.end()) return;
  const RequestNumber request = reply.request;
  ScanRequest& scan = at->second;
  const size_t held_before = scan.held_bytes();
  const bool anew = scan.on_reply(std::move(reply));
  environment_.held_bytes += scan.held_bytes() - held_before;
  if (anew) return begin_round(take(request), moment, outbox);
  if (!scan.round_complete()) return;
  ScanRequest complete = take(request);
  Status status = complete.finish_round(environment_.view, milliseconds(moment.wall_now));
  if (!status.ok() || complete.page_complete()) {
    return finish(std::move(complete), std::move(status), moment.now, outbox);
  }
  begin_round(std::move(complete), moment, outbox);
}

void Scans::finish(ScanRequest scan, Status status, Time now, MessageOutbox& outbox) {
  ClientReply reply;
  reply.status = std::move(status);
  if (reply.status.ok()) reply.body = scan.take_page();
  environment_.statistics.count(RequestKind::kScan, reply.status, now - scan.started());
  environment_.answer(scan.requester(), std::move(reply), outbox);
}

void Scans::wake(RequestNumber request, Moment moment, MessageOutbox& outbox) {
  const auto at = scans_.find(request);
  if (at == scans_.end()) return;
  ScanRequest& scan = at->second;
  if (moment.now < scan.question().deadline) {
    if (scan.give_up_silent(environment_.view, moment.now)) begin_round(take(request), moment, outbox);
    return;
  }
  Status status;
  if (!scan.has_progress()) status = unavailable("the scan timed out; go on from its last cursor");
  finish(take(request), std::move(status), moment.now, outbox);
}

void Scans::on_ring(Moment moment, MessageOutbox& outbox) {
  for (const RequestNumber request : sorted_numbers(scans_)) begin_round(take(request), moment, outbox);
}

void Scans::on_view(Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber request : sorted_numbers(scans_)) {
    const std::vector<NodeId> awaited = scans_.at(request).awaited();
    const bool is_stuck =
        std::any_of(awaited.begin(), awaited.end(), [&](NodeId node) { return !view.is_reachable(node); });
    if (is_stuck) begin_round(take(request), moment, outbox);
  }
}

void Scans::on_link_restored(NodeId node, MessageOutbox& outbox) const {
  for (const RequestNumber request : sorted_numbers(scans_)) {
    std::optional<ReplicaScan> again = scans_.at(request).unanswered(node);
    if (!again) continue;
    again->request = request;
    outbox.send(node, std::move(*again));
  }
}

void Scans::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const RequestNumber request : sorted_numbers(scans_)) {
    const ScanRequest scan = take(request);
    environment_.answer(scan.requester(), refusal(unavailable(why.message())), outbox);
  }
}

}  // namespace ringkv
