// What became of each recent operation of this life, so that a retry is answered and never stamped twice (an
// operation id applies at most once). An entry is kept until its operation's deadline + 60 s, after which no
// client asks any more; past the capacity the oldest go earlier, and the table says that it may have
// forgotten something.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>

#include "base/ids.h"
#include "base/time.h"

namespace ringkv {

class OperationTable {
 public:
  static constexpr Duration kKeptAfterDeadline = std::chrono::seconds(60);
  static constexpr size_t kEntriesMax = 65'536;

  enum class Outcome : uint8_t { kUnderWay, kApplied, kUnknown, kRefused };
  // Small on purpose: at full speed there are 65,536 of them. What a retry needs beyond it stands in the
  // record.
  struct Entry {
    uint64_t request = 0;  // the coordinator's number while it is under way
    Outcome outcome = Outcome::kUnderWay;
    bool synced = false;
  };

  explicit OperationTable(size_t entries_max = kEntriesMax) : entries_max_(entries_max) {}

  // Nothing: this life has not seen it, or has forgotten it.
  Entry* find(const OperationId& operation);

  // True while an operation that isn't found may yet have been here.
  bool may_have_forgotten(Time now) const { return now < forgotten_until_; }

  void begin(const OperationId& operation, uint64_t request, bool synced, Time deadline);
  void decide(const OperationId& operation, Outcome outcome);
  void forget(const OperationId& operation) { entries_.erase(operation); }

  void tick(Time now);
  size_t size() const { return entries_.size(); }

 private:
  struct Expiry {
    Time at;
    OperationId operation;
    uint64_t request;
  };

  void drop_oldest();

  const size_t entries_max_;
  std::unordered_map<OperationId, Entry> entries_;
  std::deque<Expiry> expiries_;  // in order of arrival, so nearly in order of time
  Time forgotten_until_{};
};

}  // namespace ringkv
