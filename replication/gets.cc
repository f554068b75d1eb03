#include "replication/gets.h"

#include <algorithm>
#include <utility>

#include "replication/admission.h"
#include "replication/answers.h"
#include "replication/quorum.h"

namespace ringkv {
namespace {

constexpr size_t kOthersExplained = 64;  // asked for hints

RequestKind kind_of(GetPurpose purpose) {
  return purpose == GetPurpose::kExists ? RequestKind::kExists : RequestKind::kGet;
}

}  // namespace

// The own copy first: it costs no message.
Result<GetRequest::Plan> Gets::plan(const GetRequest::Question& question) const {
  const RingView& view = environment_.view;
  if (question.purpose == GetPurpose::kLocalGet)
    return GetRequest::Plan{.owners = {question.node}, .read_quorum = 1};
  GetRequest::Plan plan;
  plan.owners = view.owners_of(question.place.partition);
  const auto owners = static_cast<uint32_t>(plan.owners.size());
  if (question.purpose == GetPurpose::kExplain) {
    plan.read_quorum = 0;
    for (const Member& member : view.ring().description().members) {
      const bool is_owner =
          std::find(plan.owners.begin(), plan.owners.end(), member.node) != plan.owners.end();
      if (!is_owner && view.is_reachable(member.node) && plan.others.size() < kOthersExplained)
        plan.others.push_back(member.node);
    }
    return plan;
  }
  const BucketDescription* bucket = view.ring().description().find_bucket(question.bucket);
  if (bucket == nullptr) return invalid_argument("there is no such bucket any more");
  const Result<uint32_t> read_quorum = quorum_for("r", question.r, bucket->read_quorum, owners);
  if (!read_quorum.ok()) return read_quorum.status();
  plan.read_quorum = *read_quorum;
  plan.holders = view.holders_for_confirmation(owners);
  if (question.purpose == GetPurpose::kRetriedPut) {
    const Result<uint32_t> write_quorum = quorum_for("w", question.w, bucket->write_quorum, owners);
    plan.read_quorum = std::max(plan.read_quorum, majority_of(owners));
    plan.holders = std::max(plan.holders, write_quorum.ok() ? *write_quorum : owners);
  }
  plan_other_list(question, *bucket, plan);
  const auto self = std::find(plan.owners.begin(), plan.owners.end(), view.self());
  if (self != plan.owners.end()) std::rotate(plan.owners.begin(), self, self + 1);
  return plan;
}

// What was read must not go back in time when the ring is switched, or the change is called off: so many of
// the other list hold it too. Owners on both lists come first.
void Gets::plan_other_list(const GetRequest::Question& question, const BucketDescription& bucket,
                           GetRequest::Plan& plan) const {
  const RingView& view = environment_.view;
  const std::optional<RingChange>& change = view.ring().description().change;
  if (!change) return;
  const WriteLists lists = view.write_lists(question.place.partition);
  if (lists.next.empty()) return;
  plan.other_list = change->switched ? lists.present : lists.next;
  const auto others = static_cast<uint32_t>(plan.other_list.size());
  plan.other_holders = view.holders_for_confirmation(others);
  if (question.purpose == GetPurpose::kRetriedPut) {
    const Result<uint32_t> write_quorum = quorum_for("w", question.w, bucket.write_quorum, others);
    plan.other_holders = std::max(plan.other_holders, write_quorum.ok() ? *write_quorum : others);
  }
  std::stable_partition(plan.owners.begin(), plan.owners.end(), [&](NodeId owner) {
    return std::find(plan.other_list.begin(), plan.other_list.end(), owner) != plan.other_list.end();
  });
}

void Gets::start(const Requester& requester, GetRequest::Question question, Moment moment,
                 MessageOutbox& outbox) {
  Result<GetRequest::Plan> plan = this->plan(question);
  if (!plan.ok()) return environment_.answer(requester, get_failure(question, plan.status()), outbox);
  const RequestNumber request = environment_.numbers.next();
  insert(request, GetRequest(requester, std::move(question), std::move(*plan), moment.now));
  advance(request, moment, outbox);
}

void Gets::insert(RequestNumber request, GetRequest get) {
  environment_.numbers.wake(request, get.question().deadline);
  environment_.held_bytes += get.held_bytes();
  gets_.emplace(request, std::move(get));
}

void Gets::ask(const GetRequest& get, RequestNumber request, GetRequest::Ask ask,
               MessageOutbox& outbox) const {
  const GetRequest::Question& question = get.question();
  outbox.send(ask.node, ReplicaGet{.request = request,
                                   .place = ask.node == environment_.settings.self ? question.place : Place(),
                                   .bucket = question.bucket,
                                   .key = question.key,
                                   .digest = ask.digest,
                                   .inspect = is_inspection(question.purpose),
                                   .with_floor = ask.with_floor,
                                   .deadline = question.deadline});
}

void Gets::advance(RequestNumber request, Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  GetRequest& get = gets_.at(request);
  if (!get.resolved()) {
    for (const GetRequest::Ask& next : get.next_asks(view, moment.now)) ask(get, request, next, outbox);
    const GetRequest::Progress progress = get.progress(view, moment.now);
    if (progress == GetRequest::Progress::kImpossible) {
      return finish(request, get_failure(get.question(), get.failure(view, "can't be read")), moment.now,
                    outbox);
    }
    if (progress == GetRequest::Progress::kWaits) return set_alarm(request, get);
    get.resolve(view.hasher());
  }
  if (!advance_repair(request, get, moment, outbox)) set_alarm(request, get);
}

// True when it was answered.
bool Gets::advance_repair(RequestNumber request, GetRequest& get, Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  repair(get, request, get.next_repairs(view), outbox);
  const GetRequest::Confirmation confirmation = get.confirmation(view, moment.now);
  if (confirmation == GetRequest::Confirmation::kWaits) return false;
  const bool confirmed = confirmation == GetRequest::Confirmation::kConfirmed;
  if (!confirmed) environment_.statistics.count_unconfirmed();
  finish(request, get_reply(get, view, confirmed, milliseconds(moment.wall_now)), moment.now, outbox);
  return true;
}

void Gets::repair(const GetRequest& get, RequestNumber request, const std::vector<NodeId>& owners,
                  MessageOutbox& outbox) const {
  if (owners.empty()) return;
  environment_.statistics.count_read_repairs(owners.size());
  ReplicaPut copy = repair_of(get);
  copy.request = request;
  for (const NodeId owner : owners) {
    copy.place = owner == environment_.settings.self ? get.question().place : Place();
    outbox.send(owner, copy);
  }
}

Duration Gets::allowance(NodeId node) const {
  const auto at = latencies_.find(node);
  if (at == latencies_.end()) return kHedgeAfterUnmeasured;
  return std::max(kHedgeAfterMin, at->second.p95());
}

void Gets::set_alarm(RequestNumber request, const GetRequest& get) {
  const std::optional<Time> alarm =
      get.next_alarm(environment_.view, [this](NodeId node) { return allowance(node); });
  if (alarm) environment_.numbers.wake(request, *alarm);
}

void Gets::on(ReplicaGetReply reply, Moment moment, MessageOutbox& outbox) {
  const auto at = gets_.find(reply.request);
  if (at == gets_.end()) {
    std::optional<ReplicaPut> copy = stragglers_.on(reply);
    if (!copy) return;
    environment_.statistics.count_read_repairs(1);
    if (reply.replica != environment_.settings.self) copy->place = Place();
    return outbox.send(reply.replica, std::move(*copy));
  }
  GetRequest& get = at->second;
  const RequestNumber request = reply.request;
  const NodeId replica = reply.replica;
  const size_t held_before = get.held_bytes();
  if (const std::optional<Duration> took = get.on_reply(std::move(reply), moment.now)) {
    latencies_[replica].add(*took);
  }
  environment_.held_bytes += get.held_bytes() - held_before;
  advance(request, moment, outbox);
}

void Gets::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  const auto at = gets_.find(ack.request);
  if (at == gets_.end()) return;
  at->second.on_repaired(ack.replica, ack.status);
  advance(ack.request, moment, outbox);
}

void Gets::finish(RequestNumber request, ClientReply reply, Time now, MessageOutbox& outbox) {
  const auto at = gets_.find(request);
  const GetRequest& get = at->second;
  environment_.statistics.count(kind_of(get.question().purpose), reply.status, now - get.started());
  environment_.answer(get.requester(), std::move(reply), outbox);
  environment_.held_bytes -= get.held_bytes();
  if (get.resolved()) stragglers_.add(request, get);
  gets_.erase(at);
}

void Gets::wake(RequestNumber request, Moment moment, MessageOutbox& outbox) {
  stragglers_.expire(request, moment.now);
  const auto at = gets_.find(request);
  if (at == gets_.end()) return;
  GetRequest& get = at->second;
  const RingView& view = environment_.view;
  if (moment.now < get.question().deadline) {
    if (!get.resolved() && get.mark_late(moment.now, [this](NodeId node) { return allowance(node); })) {
      environment_.statistics.count_hedged();
    }
    return advance(request, moment, outbox);
  }
  if (!get.readable()) {
    return finish(request, get_failure(get.question(), get.failure(view, "timed out")), moment.now, outbox);
  }
  if (!get.resolved()) get.resolve(view.hasher());
  finish(request, get_reply(get, view, false, milliseconds(moment.wall_now)), moment.now, outbox);
}

// A copy for an owner of the old ring isn't sent to it any more.
void Gets::on_ring(Moment moment, MessageOutbox& outbox) {
  stragglers_.clear();
  for (const RequestNumber old : sorted_numbers(gets_)) {
    const GetRequest& get = gets_.at(old);
    Result<GetRequest::Plan> plan = this->plan(get.question());
    if (!plan.ok()) {
      finish(old, get_failure(get.question(), plan.status()), moment.now, outbox);
      continue;
    }
    const RequestNumber request = environment_.numbers.next();
    GetRequest anew(get.requester(), get.question(), std::move(*plan), get.started());
    environment_.held_bytes -= get.held_bytes();
    gets_.erase(old);
    insert(request, std::move(anew));
    advance(request, moment, outbox);
  }
}

void Gets::on_view(Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber request : sorted_numbers(gets_)) {
    GetRequest& get = gets_.at(request);
    for (const std::vector<NodeId>& list : {get.plan().owners, get.plan().other_list}) {
      for (const NodeId owner : list) {
        if (!view.is_reachable(owner)) get.on_failure(owner, unavailable("can't be reached"));
      }
    }
    advance(request, moment, outbox);
  }
}

void Gets::on_link_restored(NodeId node, MessageOutbox& outbox) const {
  for (const RequestNumber request : sorted_numbers(gets_)) {
    const GetRequest& get = gets_.at(request);
    if (const std::optional<GetRequest::Ask> again = get.unanswered(node)) ask(get, request, *again, outbox);
    if (get.awaits_repair(node)) repair(get, request, {node}, outbox);
  }
}

void Gets::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const RequestNumber request : sorted_numbers(gets_)) {
    const GetRequest& get = gets_.at(request);
    environment_.answer(get.requester(), get_failure(get.question(), unavailable(why.message())), outbox);
    environment_.held_bytes -= get.held_bytes();
  }
  gets_.clear();
  stragglers_.clear();
}

}  // namespace ringkv
