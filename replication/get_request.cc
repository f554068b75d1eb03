#include "replication/get_request.h"

#include <algorithm>

#include "base/check.h"
#include "base/plants.h"
#include "base/text.h"
#include "replication/reply_merge.h"

namespace ringkv {
namespace {

size_t value_bytes(const Record& record) {
  size_t bytes = 0;
  for (const Version& version : record.versions) bytes += version.value.size();
  return bytes;
}

}  // namespace

GetRequest::GetRequest(Requester requester, Question question, Plan plan, Time started)
    : question_(std::move(question)), plan_(std::move(plan)), requester_(requester), started_(started) {
  owners_.reserve(plan_.owners.size() + plan_.others.size());
  for (const NodeId node : plan_.owners) owners_.emplace_back().node = node;
  for (const NodeId node : plan_.others) owners_.emplace_back().node = node;
  for (const NodeId node : plan_.other_list) {
    Owner* owner = find(node);
    if (owner == nullptr) {
      owner = &owners_.emplace_back();
      owner->node = node;
      owner->may_be_asked = false;
    }
    owner->on_other_list = true;
  }
}

GetRequest::Owner* GetRequest::find(NodeId node) {
  const auto at =
      std::find_if(owners_.begin(), owners_.end(), [node](const Owner& owner) { return owner.node == node; });
  return at == owners_.end() ? nullptr : &*at;
}

bool GetRequest::is_untouched(const Owner& owner, const RingView& view) const {
  return owner.state == State::kNotAsked && owner.repair == Repair::kNone && view.is_reachable(owner.node);
}

bool GetRequest::is_candidate(const Owner& owner, const RingView& view) const {
  return owner.may_be_asked && is_untouched(owner, view);
}

// Somebody could be asked instead of an owner that is late.
bool GetRequest::has_alternatives(const RingView& view) const {
  return std::any_of(owners_.begin(), owners_.end(), [&](const Owner& owner) {
    const bool has_digest = owner.state == State::kAnswered && !owner.has_record && !owner.awaits_record;
    return has_digest || is_candidate(owner, view);
  });
}

bool GetRequest::has_record_like(const Owner& owner) const {
  return std::any_of(owners_.begin(), owners_.end(), [&](const Owner& other) {
    return other.has_record && other.reply.hash == owner.reply.hash;
  });
}

bool GetRequest::answers_differ() const {
  const Owner* first = nullptr;
  for (const Owner& owner : owners_) {
    if (owner.state != State::kAnswered) continue;
    if (first == nullptr) first = &owner;
    if (owner.reply.hash != first->reply.hash) return true;
    // Where nothing is left, one may know of what was deleted and another not, or by its floor alone.
    const bool nothing_left = first->reply.hash == Hash128();
    if (nothing_left && owner.reply.record.context.vector != first->reply.record.context.vector) return true;
  }
  return false;
}

uint32_t GetRequest::usable() const {
  if (answers_differ() && !is_inspection(question_.purpose)) {
    return static_cast<uint32_t>(std::count_if(owners_.begin(), owners_.end(), [](const Owner& owner) {
      return owner.state == State::kAnswered && owner.has_record && owner.reply.with_floor;
    }));
  }
  return static_cast<uint32_t>(std::count_if(owners_.begin(), owners_.end(), [this](const Owner& owner) {
    return owner.state == State::kAnswered && has_record_like(owner);
  }));
}

std::vector<GetRequest::Ask> GetRequest::next_asks(const RingView& view, Time now) {
  std::vector<Ask> asks;
  const bool inspects = is_inspection(question_.purpose);
  const auto in_time = [](const Owner& owner) { return owner.awaited() && !owner.late; };
  bool record_expected = std::any_of(owners_.begin(), owners_.end(), [&](const Owner& owner) {
    return owner.has_record || (in_time(owner) && owner.asked_whole);
  });
  const bool differ = answers_differ() && !inspects;
  if (differ) {
    ask_for_floors(now, asks);
    record_expected = true;
  } else if (!std::any_of(owners_.begin(), owners_.end(), [&](const Owner& owner) {
               return owner.state == State::kAsked && !owner.late && owner.asked_whole;
             })) {
    ask_for_records(now, asks);
    record_expected = record_expected || !asks.empty();
  }
  size_t counted = 0, counted_on_other = 0;
  const auto count = [&](const Owner& owner) {
    ++counted;
    counted_on_other += owner.on_other_list ? 1 : 0;
  };
  for (const Owner& owner : owners_) {
    if (in_time(owner) || (owner.state == State::kAnswered && (has_record_like(owner) || !owner.late)))
      count(owner);
  }
  for (Owner& owner : owners_) {
    // To ask an owner that is on both lists costs less than to write to one that can't be asked.
    const bool serves_other_list = owner.on_other_list && counted_on_other < plan_.other_holders;
    if (!inspects && counted >= needed() && !serves_other_list) continue;
    if (!is_candidate(owner, view)) continue;
    owner.state = State::kAsked;
    const bool with_floor = differ || question_.purpose == GetPurpose::kExplain;
    asks.push_back(ask(owner, now, inspects || differ || !record_expected, with_floor));
    record_expected = true;
    count(owner);
  }
  return asks;
}

GetRequest::Ask GetRequest::ask(Owner& owner, Time now, bool whole, bool with_floor) const {
  owner.asked_whole = whole;
  owner.asked_floor = with_floor;
  owner.asked_at = now;
  return {owner.node, !whole, with_floor};
}

// Of all who have answered with something, since any of them may have dropped what another shows.
void GetRequest::ask_for_floors(Time now, std::vector<Ask>& asks) {
  for (Owner& owner : owners_) {
    if (owner.state != State::kAnswered || owner.reply.with_floor) continue;
    if (owner.awaits_record && owner.asked_floor) continue;
    owner.awaits_record = true;
    asks.push_back(ask(owner, now, true, true));
  }
}

// Digests for which no record is here, or on its way in time: one owner of each is asked for it.
void GetRequest::ask_for_records(Time now, std::vector<Ask>& asks) {
  for (Owner& owner : owners_) {
    if (owner.state != State::kAnswered || owner.awaits_record || has_record_like(owner)) continue;
    const bool on_its_way = std::any_of(owners_.begin(), owners_.end(), [&](const Owner& other) {
      return other.awaits_record && !other.late && other.reply.hash == owner.reply.hash;
    });
    if (on_its_way) continue;
    owner.awaits_record = true;
    asks.push_back(ask(owner, now, true, false));
  }
}

std::optional<GetRequest::Ask> GetRequest::unanswered(NodeId node) const {
  const Owner* owner = find(node);
  if (owner == nullptr || !owner->awaited()) return std::nullopt;
  return Ask{node, !owner->asked_whole, owner->asked_floor};
}

// An owner whose epoch is newer has refused nothing: the newer ring is on its way here.
std::optional<Duration> GetRequest::on_reply(ReplicaGetReply reply, Time now) {
  Owner* owner = find(reply.replica);
  if (owner == nullptr || reply.status.code() == StatusCode::kStaleEpoch) return {};
  if (owner->has_record && !(owner->awaits_record && (reply.with_floor || !reply.status.ok()))) return {};
  if (!reply.status.ok() && !planted(Plant::kErrorIsAnAnswer)) {
    fail(*owner, reply.status);
    return {};
  }
  const std::optional<Duration> took =
      owner->awaited() ? std::optional<Duration>(now - owner->asked_at) : std::nullopt;
  const bool whole = !reply.digest;
  if (whole || owner->state != State::kAnswered) owner->late = false;
  owner->state = State::kAnswered;
  owner->has_record = whole;
  if (whole && (reply.with_floor || !owner->asked_floor)) owner->awaits_record = false;
  held_bytes_ += value_bytes(reply.record);
  held_bytes_ -= value_bytes(owner->reply.record);
  owner->reply = std::move(reply);
  return took;
}

void GetRequest::on_failure(NodeId node, const Status& why) {
  Owner* owner = find(node);
  if (owner != nullptr && owner->awaited()) fail(*owner, why);
  if (owner != nullptr && owner->repair == Repair::kSent) owner->repair = Repair::kFailed;
}

void GetRequest::fail(Owner& owner, const Status& why) {
  if (!owner.awaited()) return;
  owner.awaits_record = false;
  if (owner.state == State::kAnswered && has_record_like(owner) && !answers_differ()) return;  // it will do
  owner.state = State::kFailed;
  failures_.add(owner.node, why.message());
  const bool is_alike = failure_code_ == StatusCode::kOk || failure_code_ == why.code();
  failure_code_ = is_alike ? why.code() : StatusCode::kUnavailable;
}

GetRequest::Progress GetRequest::progress(const RingView& view, Time now) {
  const uint32_t usable_now = usable();
  if (usable_now >= plan_.read_quorum && !enough_since_) enough_since_ = now;
  const auto count = [&](auto predicate) {
    return static_cast<uint32_t>(std::count_if(owners_.begin(), owners_.end(), predicate));
  };
  const uint32_t waited_for = count([](const Owner& owner) { return owner.awaited(); });
  const uint32_t candidates = count([&](const Owner& owner) { return is_candidate(owner, view); });
  const bool nobody_else = waited_for == 0 && candidates == 0;
  if (usable_now >= plan_.read_quorum) {
    const bool inspects = is_inspection(question_.purpose);
    if (nobody_else || (!inspects && usable_now >= needed())) return Progress::kResolved;
    if (!inspects && now >= *enough_since_ + kConfirmationPatience) return Progress::kResolved;
    return Progress::kWaits;
  }
  const uint32_t answered_or_asked = count(
      [](const Owner& owner) { return owner.state == State::kAsked || owner.state == State::kAnswered; });
  return answered_or_asked + candidates < plan_.read_quorum ? Progress::kImpossible : Progress::kWaits;
}

void GetRequest::resolve(const RecordHasher& hasher) {
  CHECK(!resolved_);
  resolved_ = true;
  std::vector<const ReplicaGetReply*> replies;
  bool all_alike = true;
  for (const Owner& owner : owners_) {
    if (!owner.has_record || owner.state != State::kAnswered) continue;
    all_alike = all_alike && (replies.empty() || replies.front()->hash == owner.reply.hash);
    replies.push_back(&owner.reply);
  }
  record_ = merged(replies);
  // Equal versions: only the contexts may tell more.
  for (const Owner& owner : owners_) {
    const bool digest = owner.state == State::kAnswered && !owner.has_record;
    if (digest && has_record_like(owner)) record_.context.join(owner.reply.record.context);
  }
  if (question_.conflict == Conflict::kLastWriterWins) keep_winner(record_);
  if (replies.empty()) return;
  if (record_.versions.empty()) return;
  hash_ = all_alike ? replies.front()->hash : hasher.hash(question_.place.digest, record_);
}

// It holds what was merged, and nothing beside it. Where nothing is left it must know so: an owner that has
// never heard of the key looks the same.
bool GetRequest::agrees(const Owner& owner) const {
  if (owner.state != State::kAnswered || owner.reply.hash != hash_) return false;
  return !record_.versions.empty() || knows(owner.reply, record_.context.vector);
}

// Those that differ; and where a repair has failed, owners that were not asked at all.
std::vector<NodeId> GetRequest::next_repairs(const RingView& view) {
  std::vector<NodeId> repairs;
  if (is_inspection(question_.purpose) || (record_.versions.empty() && record_.context.vector.empty()))
    return repairs;
  uint32_t expected = 0, expected_on_other = 0;
  const auto expect = [&](const Owner& owner) {
    expected += owner.may_be_asked ? 1 : 0;
    expected_on_other += owner.on_other_list ? 1 : 0;
  };
  for (Owner& owner : owners_) {
    if (owner.state == State::kAnswered && !agrees(owner) && owner.repair == Repair::kNone) {
      owner.repair = Repair::kSent;
      repairs.push_back(owner.node);
    }
    const bool may_hold = owner.state == State::kAsked && !owner.late;
    if (agrees(owner) || may_hold || owner.repair == Repair::kSent || owner.repair == Repair::kDone)
      expect(owner);
  }
  for (Owner& owner : owners_) {
    const bool helps = (owner.may_be_asked && expected < plan_.holders) ||
                       (owner.on_other_list && expected_on_other < plan_.other_holders);
    if (!helps || !is_untouched(owner, view)) continue;
    owner.repair = Repair::kSent;
    repairs.push_back(owner.node);
    expect(owner);
  }
  return repairs;
}

template <class Predicate>
bool GetRequest::enough_hold(Predicate predicate) const {
  uint32_t holders = 0, on_other = 0;
  for (const Owner& owner : owners_) {
    if (!predicate(owner)) continue;
    holders += owner.may_be_asked ? 1 : 0;
    on_other += owner.on_other_list ? 1 : 0;
  }
  // Where nothing was ever held nothing can go back in time.
  const bool nothing_held = record_.versions.empty() && record_.context.vector.empty();
  return holders >= plan_.holders && (on_other >= plan_.other_holders || nothing_held);
}

bool GetRequest::awaits_repair(NodeId node) const {
  const Owner* owner = find(node);
  return owner != nullptr && owner->repair == Repair::kSent;
}

void GetRequest::on_repaired(NodeId node, const Status& status) {
  Owner* owner = find(node);
  if (owner == nullptr || owner->repair != Repair::kSent || status.code() == StatusCode::kStaleEpoch) return;
  owner->repair = status.ok() ? Repair::kDone : Repair::kFailed;
}

GetRequest::Confirmation GetRequest::confirmation(const RingView& view, Time now) const {
  if (is_inspection(question_.purpose) || planted(Plant::kConfirmUnheard)) return Confirmation::kConfirmed;
  const auto holds = [this](const Owner& owner) { return agrees(owner) || owner.repair == Repair::kDone; };
  if (enough_hold(holds)) return Confirmation::kConfirmed;
  const bool possible = enough_hold([&](const Owner& owner) {
    return holds(owner) || owner.repair == Repair::kSent || owner.state == State::kAsked ||
           is_untouched(owner, view);
  });
  const bool patient = enough_since_ && now < *enough_since_ + kConfirmationPatience;
  return possible && patient ? Confirmation::kWaits : Confirmation::kUnconfirmed;
}

const ReplicaGetReply* GetRequest::reply_of(NodeId node) const {
  const Owner* owner = find(node);
  return owner != nullptr && owner->has_record ? &owner->reply : nullptr;
}

std::vector<NodeId> GetRequest::awaited() const {
  std::vector<NodeId> nodes;
  for (const Owner& owner : owners_) {
    if (owner.state == State::kAsked) nodes.push_back(owner.node);
  }
  return nodes;
}

Status GetRequest::failure(const RingView& view, std::string_view what) const {
  OwnerFailures failures = failures_;
  StatusCode code = failure_code_;
  for (const Owner& owner : owners_) {
    if (owner.state == State::kFailed || !owner.may_be_asked) continue;
    if (owner.state == State::kNotAsked) failures.add(owner.node, "can't be reached");
    if (owner.state == State::kAsked) failures.add(owner.node, "has not answered yet");
    if (owner.awaits_record) failures.add(owner.node, "has answered with a digest, and not with the record");
    if (owner.state != State::kAnswered || owner.awaits_record) code = StatusCode::kUnavailable;
  }
  if (code == StatusCode::kOk) code = StatusCode::kUnavailable;
  return {code, cat("key ", display_key(question_.key), ": ", what, " with ", usable(), " of ",
                    plan_.read_quorum, " answers", failures.text(view))};
}

}  // namespace ringkv
