#include "replication/operation_table.h"

#include <algorithm>

namespace ringkv {

OperationTable::Entry* OperationTable::find(const OperationId& operation) {
  const auto at = entries_.find(operation);
  return at == entries_.end() ? nullptr : &at->second;
}

void OperationTable::begin(const OperationId& operation, uint64_t request, bool synced, Time deadline) {
  if (expiries_.size() >= entries_max_) {
    forgotten_until_ = std::max(forgotten_until_, expiries_.front().at);
    drop_oldest();
  }
  entries_[operation] = {request, Outcome::kUnderWay, synced};
  expiries_.push_back({deadline + kKeptAfterDeadline, operation, request});
}

void OperationTable::decide(const OperationId& operation, Outcome outcome) {
  if (Entry* entry = find(operation)) entry->outcome = outcome;
}

void OperationTable::tick(Time now) {
  while (!expiries_.empty() && expiries_.front().at <= now) drop_oldest();
}

void OperationTable::drop_oldest() {
  const Expiry& oldest = expiries_.front();
  const auto at = entries_.find(oldest.operation);
  // A later try of a forgotten operation has an expiry of its own.
  if (at != entries_.end() && at->second.request == oldest.request) entries_.erase(at);
  expiries_.pop_front();
}

}  // namespace ringkv
