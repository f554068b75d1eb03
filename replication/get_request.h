// One get under way at its coordinator: whom to ask next, whether enough have answered, what their answers
// come to, and who must be brought up to date before it is told (Dynamo paper, section 4.5).
//
// One owner is asked for the record, as many others as needed for a digest: context and hash. An owner
// counts once its record is here, or its digest equals that of a record that is. Where digests differ the
// records are fetched from all who answered, each with the floor of its owner (which alone knows what that
// owner has dropped), merged, and the merge is written back: the answer is confirmed when so many owners hold
// it that no later quorum read can go back in time.
//
// Decides and sends nothing. Values of the key are held as long as it lives.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replication/messages.h"
#include "replication/owner_failures.h"
#include "replication/ring_view.h"

namespace ringkv {

// What the answer is for: all of them are a read of the key's replicas.
enum class GetPurpose : uint8_t { kGet, kExists, kLocalGet, kExplain, kRetriedPut };

// For people: shows what replicas hold, whole or not, and changes nothing.
constexpr bool is_inspection(GetPurpose purpose) {
  return purpose == GetPurpose::kLocalGet || purpose == GetPurpose::kExplain;
}

class GetRequest {
 public:
  // After R answers it waits this long for the owners that confirm them.
  static constexpr Duration kConfirmationPatience = std::chrono::milliseconds(200);

  struct Question {
    GetPurpose purpose = GetPurpose::kGet;
    std::string bucket;
    std::string key;
    Place place;
    Conflict conflict = Conflict::kSiblings;
    uint32_t r = 0;  // as asked; 0: the bucket's default
    NodeId node;     // kLocalGet: whose copy
    Time deadline;
    // kRetriedPut: the answer is the receipt, if the record still holds the operation's version.
    OperationId operation;
    Boot first_tried;
    uint32_t w = 0;
  };
  // What the question comes to by one ring.
  struct Plan {
    std::vector<NodeId> owners;  // in the order in which they are asked
    std::vector<NodeId> others;  // kExplain: asked for hints
    uint32_t read_quorum = 1;
    uint32_t holders = 0;  // so many must hold what is answered for it to be confirmed
    // While the ring changes: the list that gets don't ask, and how many of it must hold what is answered
    // too.
    std::vector<NodeId> other_list;
    uint32_t other_holders = 0;
  };

  GetRequest(Requester requester, Question question, Plan plan, Time started);

  // Whom to ask now; taken as asked. An owner that was `late` counts no longer: another is asked beside it.
  struct Ask {
    NodeId node;
    bool digest = false;
    bool with_floor = false;
  };
  std::vector<Ask> next_asks(const RingView& view, Time now);

  // What is still unanswered of this owner, to be asked again.
  std::optional<Ask> unanswered(NodeId node) const;

  // How long the owner took, if the reply is one that was waited for.
  std::optional<Duration> on_reply(ReplicaGetReply reply, Time now);
  void on_failure(NodeId node, const Status& why);

  // Owners that have taken longer than `allowance(node)` since they were asked are late from now on. True
  // when there are some.
  template <class Allowance>
  bool mark_late(Time now, Allowance allowance) {
    bool some = false;
    for (Owner& owner : owners_) {
      if (!owner.awaited() || owner.late || now < owner.asked_at + allowance(owner.node)) continue;
      owner.late = some = true;
    }
    return some;
  }
  // When to look for late ones, or to stop waiting for confirmation.
  template <class Allowance>
  std::optional<Time> next_alarm(const RingView& view, Allowance allowance) const {
    std::optional<Time> alarm;
    const auto consider = [&alarm](Time at) { alarm = alarm ? std::min(*alarm, at) : at; };
    if (enough_since_ && readable()) consider(*enough_since_ + kConfirmationPatience);
    if (resolved_ || !has_alternatives(view)) return alarm;
    for (const Owner& owner : owners_) {
      if (owner.awaited() && !owner.late) consider(owner.asked_at + allowance(owner.node));
    }
    return alarm;
  }

  enum class Progress : uint8_t { kWaits, kImpossible, kResolved };
  Progress progress(const RingView& view, Time now);

  // Merges what has come. Once, when progress() is kResolved, or at the deadline when readable().
  bool readable() const { return usable() >= plan_.read_quorum; }
  void resolve(const RecordHasher& hasher);
  bool resolved() const { return resolved_; }
  const Record& record() const { return record_; }
  const Hash128& hash() const { return hash_; }

  // Who must be sent the merge now; taken as sent.
  std::vector<NodeId> next_repairs(const RingView& view);
  bool awaits_repair(NodeId node) const;
  void on_repaired(NodeId node, const Status& status);

  enum class Confirmation : uint8_t { kWaits, kConfirmed, kUnconfirmed };
  Confirmation confirmation(const RingView& view, Time now) const;

  // The owner's whole reply; nothing: it has not come.
  const ReplicaGetReply* reply_of(NodeId node) const;
  std::vector<NodeId> awaited() const;

  // UNAVAILABLE, or what all failed with alike; says how many of how many were read, and why not the others.
  Status failure(const RingView& view, std::string_view what) const;

  size_t held_bytes() const { return held_bytes_; }
  const Question& question() const { return question_; }
  const Plan& plan() const { return plan_; }
  const Requester& requester() const { return requester_; }
  Time started() const { return started_; }

 private:
  struct Owner {
    enum class State : uint8_t { kNotAsked, kAsked, kAnswered, kFailed };
    enum class Repair : uint8_t { kNone, kSent, kDone, kFailed };

    NodeId node;
    bool may_be_asked = true;  // else it is only brought up to date
    bool on_other_list = false;
    State state = State::kNotAsked;
    bool asked_whole = false;    // what it was asked last: the record, not a digest
    bool asked_floor = false;    // and its floor
    bool awaits_record = false;  // its digest came, its record has been asked for
    bool late = false;
    bool has_record = false;
    Repair repair = Repair::kNone;
    Time asked_at;
    ReplicaGetReply reply;  // of kAnswered

    bool awaited() const { return state == State::kAsked || (state == State::kAnswered && awaits_record); }
  };
  using State = Owner::State;
  using Repair = Owner::Repair;

  Owner* find(NodeId node);
  const Owner* find(NodeId node) const { return const_cast<GetRequest*>(this)->find(node); }
  uint32_t needed() const { return std::max(plan_.read_quorum, plan_.holders); }
  bool is_untouched(const Owner& owner, const RingView& view) const;
  bool is_candidate(const Owner& owner, const RingView& view) const;
  // So many owners of each list are there, or will be there, for which the predicate holds.
  template <class Predicate>
  bool enough_hold(Predicate predicate) const;
  bool has_alternatives(const RingView& view) const;
  bool has_record_like(const Owner& owner) const;
  bool answers_differ() const;
  bool agrees(const Owner& owner) const;  // with the merge
  Ask ask(Owner& owner, Time now, bool whole, bool with_floor) const;
  uint32_t usable() const;
  void ask_for_records(Time now, std::vector<Ask>& asks);
  void ask_for_floors(Time now, std::vector<Ask>& asks);
  void fail(Owner& owner, const Status& why);

  Question question_;
  Plan plan_;
  Requester requester_;
  Time started_;
  std::vector<Owner> owners_;
  std::optional<Time> enough_since_;  // R could be answered
  OwnerFailures failures_;
  StatusCode failure_code_ = StatusCode::kOk;  // of all failures alike; kUnavailable where they differ
  size_t held_bytes_ = 0;

  bool resolved_ = false;
  Record record_;
  Hash128 hash_;
};

}  // namespace ringkv
