// What became of each recent operation of this life, so that a retry is answered and never stamped twice (an
// operation id applies at most once). An entry is kept until its operation's deadline + 60 s; past the
// capacity the soonest to go go earlier.
//
// What was forgotten leaves a trace: for each client (by a hash, so for several together) the highest
// sequence that was dropped. An operation that isn't found and has a higher one was never here.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/token.h"

namespace ringkv {

class OperationTable {
 public:
  static constexpr Duration kKeptAfterDeadline = std::chrono::seconds(60);
  static constexpr size_t kEntriesMax = 65'536;

  enum class Outcome : uint8_t { kUnderWay, kApplied, kUnknown, kRefused };
  // Small on purpose: at full speed there are 65,536 of them. What a retry needs beyond it stands in the
  // record.
  struct Entry {
    uint64_t request = 0;  // the coordinator's number of it
    Token token = 0;       // of its key
    Outcome outcome = Outcome::kUnderWay;
    bool synced = false;
    // By which owners, as bits_of() its key's preference list; 0: not known. Who kept hints isn't remembered.
    uint32_t acknowledged = 0;
    std::string seen;  // as in its reply: its client's next put of the key must follow it
  };

  explicit OperationTable(size_t entries_max = kEntriesMax);

  // Nothing: this life has not seen it, or has forgotten it.
  Entry* find(const OperationId& operation);

  // True for an operation that isn't found and may yet have been here.
  bool may_have_forgotten(const OperationId& operation) const;

  void begin(const OperationId& operation, const Entry& entry, Time deadline);
  void decide(const OperationId& operation, Outcome outcome, uint32_t acknowledged, std::string seen);
  // It wrote nothing and begins anew.
  void forget(const OperationId& operation) { entries_.erase(operation); }

  // The lists have changed.
  void forget_who_acknowledged();

  void tick(Time now);
  size_t size() const { return entries_.size(); }

 private:
  struct Expiry {
    Time at;
    OperationId operation;
    uint64_t request = 0;

    friend bool operator>(const Expiry& a, const Expiry& b) { return a.at > b.at; }
  };

  static constexpr size_t kTraces = 16'384;

  size_t trace_of(const OperationId& operation) const { return operation.client % kTraces; }
  void drop_soonest();

  const size_t entries_max_;
  std::unordered_map<OperationId, Entry> entries_;
  std::vector<Expiry> expiries_;           // a heap, soonest first
  std::vector<uint64_t> forgotten_up_to_;  // by trace: the highest sequence dropped
};

// A choice from a list by positions, of the first 32.
uint32_t bits_of(const std::vector<NodeId>& list, const std::vector<NodeId>& chosen);
std::vector<NodeId> chosen_by(uint32_t bits, const std::vector<NodeId>& list);

}  // namespace ringkv
