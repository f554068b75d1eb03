#include "node/plan_sizes.h"

#include <algorithm>
#include <utility>

#include "replication/transfer_pace.h"

namespace ringkv {

std::set<std::string> members_to_count(const PlanOutline& outline) {
  std::set<std::string> members;
  for (const PlanOutline::Share& share : outline.shares) {
    if (!share.counted_at.empty()) members.insert(share.counted_at);
  }
  return members;
}

void PlanSizes::add(const std::string& member, const std::vector<PartitionSize>& sizes) {
  std::map<Partition, Size>& held = held_[member];
  for (const PartitionSize& size : sizes) held[size.partition] = {size.keys, size.bytes};
}

PlanSizes::Size PlanSizes::of(const PlanOutline::Share& share) const {
  Size total;
  const auto member = held_.find(share.counted_at);
  if (member == held_.end()) return total;
  for (const Partition partition : share.partitions) {
    const auto size = member->second.find(partition);
    if (size == member->second.end()) continue;
    total.keys += size->second.keys;
    total.bytes += size->second.bytes;
  }
  return total;
}

PlanReport PlanSizes::counted(PlanOutline outline) const {
  std::map<std::pair<std::string, std::string>, PlanMoves> moves;
  std::map<std::string, uint64_t> costs;
  for (const PlanOutline::Share& share : outline.shares) {
    const Size size = of(share);
    PlanMoves& sum = moves[{share.from, share.to}];
    sum.partitions += share.partitions.size();
    sum.keys += size.keys;
    sum.bytes += size.bytes;
    costs[share.to] += size.bytes + size.keys * kTransferCostOfRecord;
  }
  PlanReport report = std::move(outline.report);
  for (auto& [pair, sum] : moves) {
    sum.from = pair.first;
    sum.to = pair.second;
    report.moves.push_back(std::move(sum));
  }
  const auto pace = static_cast<double>(std::max<uint64_t>(report.bytes_per_second, 1));
  for (const auto& [member, cost] : costs)
    report.seconds = std::max(report.seconds, static_cast<double>(cost) / pace);
  return report;
}

}  // namespace ringkv
