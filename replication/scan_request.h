// One page of a walk over all keys in token order, under way at its coordinator.
//
// It goes in rounds. Each asks, for a window of consecutive partitions, r owners of each partition for what
// they hold behind the present position, one message a node; merges key by key up to where all of them have
// looked; and moves the position there. Where owners hold different copies of a key the round is asked again
// with their floors: one that has dropped what another still holds may know so by its floor alone. What
// doesn't fit into the page is asked for again by the next one, so that little is held. A partition without r
// owners ends the page before it: never a short answer that looks whole.
//
// Decides and sends nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replication/messages.h"
#include "replication/owner_failures.h"
#include "replication/ring_view.h"

namespace ringkv {

class ScanRequest {
 public:
  static constexpr Partition kWindow = 64;
  static constexpr size_t kEntriesMax = 10'000;  // a page
  static constexpr size_t kPageBytesMax = size_t{1} << 20;
  // A page of few live keys isn't long under way either.
  static constexpr size_t kRecordsSeenMax = 20'000;
  static constexpr int kRoundsMax = 64;
  static constexpr Duration kPatience = std::chrono::milliseconds(500);

  struct Question {
    std::string bucket;
    std::string prefix;
    std::string after;  // storage key; empty: from the start
    size_t limit = kEntriesMax;
    bool values = false;
    Conflict conflict = Conflict::kSiblings;
    Time deadline;
  };

  ScanRequest(Requester requester, Question question, Time started)
      : position_(question.after), question_(std::move(question)), requester_(requester), started_(started) {}

  // Begins a round from the present position: whom to ask for what, without request numbers. None: the
  // partition at the position has too few owners that can be asked; blocked() says why.
  std::vector<std::pair<NodeId, ReplicaScan>> begin_round(const RingView& view, Time now);
  const Status& blocked() const { return blocked_; }

  // True when the round must begin anew, without the owner: it has failed.
  bool on_reply(ReplicaScanReply reply);
  // True when owners have been silent for too long and others can be asked: the round must begin anew.
  bool give_up_silent(const RingView& view, Time now);

  std::vector<NodeId> awaited() const;
  bool round_complete() const;
  std::optional<ReplicaScan> unanswered(NodeId node) const;

  // Merges what the round has brought into the page.
  Status finish_round(const RingView& view, uint64_t now_ms);
  bool page_complete() const { return at_end_ || full_; }
  bool has_progress() const { return position_ != question_.after || at_end_; }
  ScanPage take_page();

  size_t held_bytes() const { return held_bytes_; }  // of replies that wait for others
  const Question& question() const { return question_; }
  const Requester& requester() const { return requester_; }
  Time started() const { return started_; }

 private:
  struct Part {
    NodeId node;
    ReplicaScan asked;
    std::optional<ReplicaScanReply> reply;
  };
  struct Failure {
    NodeId node;
    std::string why;
  };

  bool with_floors(const RingView& view) const { return partition_at(position_, view) < with_floors_until_; }
  static Partition partition_at(std::string_view storage_key, const RingView& view);
  std::vector<NodeId> usable_owners(const RingView& view, Partition partition) const;
  uint32_t owners_needed(const RingView& view, Partition partition) const;
  Status plan(const RingView& view, Partition partition);
  Part& part_of(NodeId node);
  const Part* find(NodeId node) const;
  std::string horizon() const;  // how far all have looked
  struct Copy {
    NodeId node;
    Record record;
    Hash128 hash;
  };
  using Copies = std::map<std::string_view, std::vector<Copy>>;  // by storage key
  Result<Copies> copies_up_to(const std::string& horizon, const RingView& view) const;
  bool differ(Partition partition, const std::vector<Copy>& copies, const RingView& view,
              uint64_t now_ms) const;
  Record resolved(Partition partition, std::vector<Copy> copies) const;
  void take(const Copies& found, const std::string& horizon, const RingView& view, uint64_t now_ms);
  void add(std::string_view storage_key, const Record& record, uint64_t now_ms);

  std::string position_;  // storage key up to which the page is complete
  Question question_;
  Requester requester_;
  Time started_;

  std::vector<Failure> failed_;  // of this page
  std::vector<Part> parts_;      // of this round
  std::string window_end_;       // storage keys of the round are below; empty: to the end of the ring
  Time round_started_;
  Status blocked_;
  size_t held_bytes_ = 0;
  Partition with_floors_until_ = 0;  // partitions below are asked with floors

  std::vector<ScanEntry> entries_;
  size_t page_bytes_ = 0;
  size_t records_seen_ = 0;
  int rounds_ = 0;
  bool full_ = false;
  bool at_end_ = false;
};

}  // namespace ringkv
