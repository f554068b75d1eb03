#include "ringkv/admin.h"

#include <algorithm>
#include <random>

#include "base/client_message.h"
#include "node/plan_sizes.h"
#include "node/reply_result.h"

namespace ringkv {

ClientReply Admin::ask(ClientRequest request) {
  request.timeout = std::min<std::chrono::milliseconds>(timeout_, std::chrono::hours(24));
  return await_reply([&](auto done) { store_.submit(std::move(request), std::move(done)); });
}

Result<ClusterStatus> Admin::status() { return result_from<ClusterStatus>(ask({ClientStatus{}, {}})); }

Result<RingInfo> Admin::ring(bool owners) { return result_from<RingInfo>(ask({ClientRing{owners}, {}})); }

Result<Explanation> Admin::explain(std::string_view key, std::string_view bucket) {
  return result_from<Explanation>(ask({ClientExplain{std::string(bucket), std::string(key)}, {}}));
}

Result<LocalRecord> Admin::local_get(std::string_view node, std::string_view key, std::string_view bucket) {
  return result_from<LocalRecord>(
      ask({ClientLocalGet{std::string(node), std::string(bucket), std::string(key)}, {}}));
}

Result<Statistics> Admin::statistics(std::string_view node, bool reset_latencies) {
  return result_from<Statistics>(ask({ClientStatistics{std::string(node), reset_latencies}, {}}));
}

Result<std::vector<BucketInfo>> Admin::buckets() {
  return result_from<std::vector<BucketInfo>>(ask({ClientBuckets{}, {}}));
}

Status Admin::create_bucket(const BucketInfo& bucket) { return ask({ClientCreateBucket{bucket}, {}}).status; }

Status Admin::drop_traffic(std::string_view peer) {
  return ask({ClientFault{ClientFault::Kind::kDrop, std::string(peer), 0}, {}}).status;
}

Status Admin::delay_traffic(std::string_view peer, std::chrono::milliseconds delay) {
  if (delay.count() < 0) return invalid_argument("a delay must not be negative");
  return ask({ClientFault{ClientFault::Kind::kDelay, std::string(peer), static_cast<uint64_t>(delay.count())},
              {}})
      .status;
}

Status Admin::heal_traffic() { return ask({ClientFault{}, {}}).status; }

Result<std::vector<HintInfo>> Admin::hints(std::string_view node) {
  return result_from<std::vector<HintInfo>>(ask({ClientHints{std::string(node)}, {}}));
}

Result<std::vector<LagInfo>> Admin::lag(std::string_view node) {
  return result_from<std::vector<LagInfo>>(ask({ClientLag{std::string(node)}, {}}));
}

Result<TransferReport> Admin::transfers(std::string_view node) {
  return result_from<TransferReport>(ask({ClientTransfers{std::string(node)}, {}}));
}

Status Admin::throttle(uint64_t bytes_per_second) {
  return ask({ClientThrottle{bytes_per_second}, {}}).status;
}

Result<RepairReport> Admin::repair(std::string_view node, std::optional<uint32_t> partition,
                                   bool accept_loss) {
  return result_from<RepairReport>(ask({ClientRepair{std::string(node), partition, accept_loss}, {}}));
}

Result<PurgeReport> Admin::purge(std::string_view node) {
  return result_from<PurgeReport>(ask({ClientPurge{std::string(node)}, {}}));
}

Result<ScrubReport> Admin::scrub(std::string_view node) {
  return result_from<ScrubReport>(ask({ClientScrub{std::string(node)}, {}}));
}

Result<std::vector<PartitionSize>> Admin::partition_sizes(std::string_view node) {
  return result_from<std::vector<PartitionSize>>(ask({ClientPartitionSizes{std::string(node)}, {}}));
}

Status Admin::plan(std::vector<PlanStep> steps) { return ask({ClientPlan{std::move(steps)}, {}}).status; }

Result<PlanReport> Admin::show_plan() {
  Result<PlanOutline> outline = result_from<PlanOutline>(ask({ClientPlanShow{}, {}}));
  if (!outline.ok()) return outline.status();
  return counted(*std::move(outline));
}

PlanReport Admin::counted(PlanOutline outline) {
  PlanSizes sizes;
  for (const std::string& member : members_to_count(outline)) {
    const Result<std::vector<PartitionSize>> held = partition_sizes(member);
    if (held.ok()) {
      sizes.add(member, *held);
    } else {
      outline.report.warnings.push_back("what " + member +
                                        " would send isn't counted: " + held.status().message());
    }
  }
  return sizes.counted(std::move(outline));
}

Result<uint64_t> Admin::commit_plan(uint64_t from_epoch) {
  std::random_device random;
  const uint64_t commit_id = uint64_t{random()} << 32 | random() | 1;  // 0 is nobody's
  const Status status = ask({ClientCommitPlan{from_epoch, commit_id}, {}}).status;
  if (!status.ok()) return status;
  return from_epoch + 1;
}

Status Admin::cancel_plan(uint64_t from_epoch) { return ask({ClientCancelPlan{from_epoch}, {}}).status; }

Result<ForceReport> Admin::force_ring(std::vector<std::string> lost, bool apply) {
  return result_from<ForceReport>(ask({ClientForceRing{std::move(lost), apply}, {}}));
}

Status Admin::skew_clock(std::string_view node, std::chrono::milliseconds offset) {
  ClientFault fault{.kind = ClientFault::Kind::kClock, .peer = std::string(node)};
  fault.offset_ms = offset.count();
  return ask({std::move(fault), {}}).status;
}

Status Admin::change_bucket(std::string_view name, const BucketChange& change) {
  return ask({ClientChangeBucket{std::string(name), change}, {}}).status;
}

}  // namespace ringkv
