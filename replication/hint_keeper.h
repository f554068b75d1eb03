// Keeps hints for nodes that can't take a write now (Dynamo paper, section 4.6), merged: a key written a
// thousand times is one hint.
//
// As with records, everything that changes one hint is serial, by a latch on (intended node, key): it covers
// the read, the decision and the hand-over to the commit thread. A hint is taken away only when all that it
// holds then is covered by what the intended node has acknowledged, so that a late acknowledgement cancels
// exactly what it acknowledges.
//
// Not kept (budget of the intended node, disk nearly full, intended node not a member): refused by name and
// counted; such a hint is no acknowledgement. One that was acknowledged is never dropped.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "replication/convergence_environment.h"

namespace ringkv {

class HintKeeper {
 public:
  static constexpr size_t kWaitingMax = 20'000;
  static constexpr size_t kHeldBytesMax = size_t{64} << 20;  // of changes that wait, and of the store's

  explicit HintKeeper(ConvergenceEnvironment& environment) : environment_(environment) {}

  void on(NodeId from, HintPut put, Moment moment, MessageOutbox& outbox);
  // From another node, or of what this node has delivered itself.
  void on(HintCovered covered, Moment moment, MessageOutbox& outbox);
  bool on(HintRead& read, Moment moment, MessageOutbox& outbox);  // false: another's

  size_t waiting() const { return waiting_; }

 private:
  struct Keep {
    NodeId from;
    HintPut put;
    RecordOutline arriving;
  };
  using Change = std::variant<Keep, HintCovered>;
  // Changes that wait for the first of them, which waits for the disk.
  struct Latch {
    std::deque<Change> changes;
    uint64_t ticket = 0;
  };
  enum class Step : uint8_t { kDone, kWaits };

  static NodeId intended_of(const Change& change);
  static const std::string& storage_key_of(const Change& change);
  static size_t bytes_of(const Change& change);

  Status check(const HintPut& put, Time now) const;
  Status check_room(size_t bytes) const;
  void take(Change change, Time now, MessageOutbox& outbox);
  Step try_change(Change& change, const std::string* read, Time now, MessageOutbox& outbox);
  void run(const std::string& hint_key, const std::string* read, Time now, MessageOutbox& outbox);

  void apply(Keep& keep, const std::string& held, MessageOutbox& outbox);
  void apply(const HintCovered& covered, const std::string& held, MessageOutbox& outbox);
  void stage(const Keep& keep, std::string_view record, std::string_view held, MessageOutbox& outbox);
  void acknowledge_unchanged(const Keep& keep, MessageOutbox& outbox);
  void refuse(const Keep& keep, Status status, MessageOutbox& outbox);
  void acknowledge(const Keep& keep, Status status, MessageOutbox& outbox) const;

  ConvergenceEnvironment& environment_;
  std::unordered_map<std::string, Latch> latches_;       // by hint key
  std::unordered_map<uint64_t, std::string> by_ticket_;  // hint keys
  size_t waiting_ = 0;                                   // changes in latches
  size_t waiting_bytes_ = 0;
};

}  // namespace ringkv
