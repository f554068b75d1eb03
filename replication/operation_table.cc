#include "replication/operation_table.h"

#include <algorithm>
#include <functional>

#include "base/plants.h"

namespace ringkv {

OperationTable::OperationTable(size_t entries_max) : entries_max_(entries_max), forgotten_up_to_(kTraces) {}

OperationTable::Entry* OperationTable::find(const OperationId& operation) {
  const auto at = entries_.find(operation);
  return at == entries_.end() || planted(Plant::kForgetOperations) ? nullptr : &at->second;
}

bool OperationTable::may_have_forgotten(const OperationId& operation) const {
  return operation.sequence <= forgotten_up_to_[trace_of(operation)];
}

void OperationTable::begin(const OperationId& operation, const Entry& entry, Time deadline) {
  if (expiries_.size() >= entries_max_) drop_soonest();
  entries_[operation] = entry;
  expiries_.push_back({deadline + kKeptAfterDeadline, operation, entry.request});
  std::push_heap(expiries_.begin(), expiries_.end(), std::greater<>());
}

void OperationTable::decide(const OperationId& operation, Outcome outcome, uint32_t acknowledged,
                            std::string seen) {
  Entry* entry = find(operation);
  if (entry == nullptr) return;
  entry->outcome = outcome;
  entry->acknowledged = acknowledged;
  entry->seen = std::move(seen);
}

void OperationTable::forget_who_acknowledged() {
  for (auto& [operation, entry] : entries_) entry.acknowledged = 0;
}

void OperationTable::tick(Time now) {
  while (!expiries_.empty() && expiries_.front().at <= now) drop_soonest();
}

void OperationTable::drop_soonest() {
  std::pop_heap(expiries_.begin(), expiries_.end(), std::greater<>());
  const Expiry dropped = expiries_.back();
  expiries_.pop_back();
  const auto at = entries_.find(dropped.operation);
  // A later try of a forgotten operation has an expiry of its own.
  if (at == entries_.end() || at->second.request != dropped.request) return;
  entries_.erase(at);
  uint64_t& trace = forgotten_up_to_[trace_of(dropped.operation)];
  trace = std::max(trace, dropped.operation.sequence);
}

uint32_t bits_of(const std::vector<NodeId>& list, const std::vector<NodeId>& chosen) {
  uint32_t bits = 0;
  for (size_t i = 0; i < list.size() && i < 32; ++i) {
    if (std::find(chosen.begin(), chosen.end(), list[i]) != chosen.end()) bits |= uint32_t{1} << i;
  }
  return bits;
}

std::vector<NodeId> chosen_by(uint32_t bits, const std::vector<NodeId>& list) {
  std::vector<NodeId> chosen;
  for (size_t i = 0; i < list.size() && i < 32; ++i) {
    if ((bits >> i & 1) != 0) chosen.push_back(list[i]);
  }
  return chosen;
}

}  // namespace ringkv
