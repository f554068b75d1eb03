#include "node/wire_codec_reports.h"

#include "node/wire.pb.h"

namespace ringkv {
namespace {

template <class Repeated>
std::vector<std::string> strings_from(const Repeated& from) {
  return {from.begin(), from.end()};
}

std::vector<HintInfo> hints_from(const wire::Hints& message) {
  std::vector<HintInfo> hints;
  for (const wire::Hints::Of& item : message.hints())
    hints.push_back({item.intended(), item.held_by(), item.hints(), item.bytes()});
  return hints;
}

std::vector<LagInfo> lags_from(const wire::Lags& message) {
  std::vector<LagInfo> lags;
  for (const wire::Lags::Pair& item : message.pairs()) {
    LagInfo& lag = lags.emplace_back();
    lag.from = item.from();
    lag.to = item.to();
    if (item.has_lag_seconds()) lag.lag_seconds = item.lag_seconds();
    lag.differing_partitions = item.differing_partitions();
    lag.behind = item.behind();
    lag.problem = item.problem();
  }
  return lags;
}

RepairReport repair_from(const wire::RepairReport& message) {
  return {message.differences(),
          message.keys_sent(),
          message.bytes_sent(),
          message.partitions(),
          message.partial(),
          strings_from(message.problems()),
          {message.accepted_loss().begin(), message.accepted_loss().end()}};
}

void add_strings(const std::vector<std::string>& from, google::protobuf::RepeatedPtrField<std::string>& to) {
  for (const std::string& text : from) *to.Add() = text;
}

std::vector<PartitionSize> sizes_from(const wire::PartitionSizes& message) {
  std::vector<PartitionSize> sizes;
  for (const wire::PartitionSizes::Of& item : message.sizes())
    sizes.push_back({item.partition(), item.keys(), item.bytes()});
  return sizes;
}

PlanOutline outline_from(const wire::PlanOutline& message) {
  PlanOutline outline;
  for (const wire::PlanOutline::Share& share : message.shares())
    outline.shares.push_back({share.from(),
                              share.to(),
                              share.counted_at(),
                              {share.partitions().begin(), share.partitions().end()}});
  PlanReport& report = outline.report;
  report.from_epoch = message.from_epoch();
  report.stage = message.stage();
  report.steps = strings_from(message.steps());
  report.below_n = message.below_n();
  report.rack_violations = strings_from(message.rack_violations());
  report.warnings = strings_from(message.warnings());
  report.waiting = strings_from(message.waiting());
  report.not_ready = strings_from(message.not_ready());
  report.bytes_per_second = message.bytes_per_second();
  return outline;
}

TransferReport transfers_from(const wire::Transfers& message) {
  TransferReport report{.node = message.node(),
                        .bytes_per_second = message.bytes_per_second(),
                        .limit = message.limit(),
                        .is_strained = message.is_strained(),
                        .taken_in = message.taken_in(),
                        .paused = message.paused(),
                        .to_take_over = message.to_take_over(),
                        .taken_over = message.taken_over(),
                        .to_refill = message.to_refill(),
                        .to_let_go = message.to_let_go(),
                        .transfers = {}};
  for (const wire::Transfers::Pull& item : message.transfers())
    report.transfers.push_back({item.from(), item.to(), item.partitions(), item.partitions_done(),
                                item.keys(), item.bytes(), item.seconds()});
  return report;
}

ForceReport force_from(const wire::ForceReport& message) {
  return {message.forced(),
          message.lineage(),
          message.epoch(),
          strings_from(message.survivors()),
          strings_from(message.lost()),
          message.partitions(),
          {message.without_copy().begin(), message.without_copy().end()},
          message.fewer_than_needed(),
          message.ends()};
}

}  // namespace

void fill_report(const std::vector<HintInfo>& hints, wire::ClientReply& reply) {
  wire::Hints& message = *reply.mutable_hints();
  for (const HintInfo& hint : hints) {
    wire::Hints::Of& item = *message.add_hints();
    item.set_intended(hint.intended);
    item.set_held_by(hint.held_by);
    item.set_hints(hint.hints);
    item.set_bytes(hint.bytes);
  }
}

void fill_report(const std::vector<LagInfo>& lags, wire::ClientReply& reply) {
  wire::Lags& message = *reply.mutable_lags();
  for (const LagInfo& lag : lags) {
    wire::Lags::Pair& item = *message.add_pairs();
    item.set_from(lag.from);
    item.set_to(lag.to);
    if (lag.lag_seconds) item.set_lag_seconds(*lag.lag_seconds);
    item.set_differing_partitions(lag.differing_partitions);
    item.set_behind(lag.behind);
    item.set_problem(lag.problem);
  }
}

void fill_report(const RepairReport& report, wire::ClientReply& reply) {
  wire::RepairReport& message = *reply.mutable_repair();
  message.set_differences(report.differences);
  message.set_keys_sent(report.keys_sent);
  message.set_bytes_sent(report.bytes_sent);
  message.set_partitions(report.partitions);
  message.set_partial(report.partial);
  for (const std::string& problem : report.problems) message.add_problems(problem);
  message.mutable_accepted_loss()->Add(report.accepted_loss.begin(), report.accepted_loss.end());
}

void fill_report(const PurgeReport& report, wire::ClientReply& reply) {
  wire::PurgeReport& message = *reply.mutable_purge();
  message.set_erased(report.erased);
  message.set_blocked(report.blocked);
  for (const std::string& why : report.blocked_by) message.add_blocked_by(why);
}

void fill_report(const ScrubReport& report, wire::ClientReply& reply) {
  wire::ScrubReport& message = *reply.mutable_scrub();
  message.set_partitions(report.partitions);
  message.set_records(report.records);
  message.set_leaves_corrected(report.leaves_corrected);
  for (const std::string& problem : report.problems) message.add_problems(problem);
}

void fill_report(const std::vector<PartitionSize>& sizes, wire::ClientReply& reply) {
  wire::PartitionSizes& message = *reply.mutable_partition_sizes();
  for (const PartitionSize& size : sizes) {
    wire::PartitionSizes::Of& item = *message.add_sizes();
    item.set_partition(size.partition);
    item.set_keys(size.keys);
    item.set_bytes(size.bytes);
  }
}

void fill_report(const PlanOutline& outline, wire::ClientReply& reply) {
  wire::PlanOutline& message = *reply.mutable_plan();
  for (const PlanOutline::Share& share : outline.shares) {
    wire::PlanOutline::Share& item = *message.add_shares();
    item.set_from(share.from);
    item.set_to(share.to);
    item.set_counted_at(share.counted_at);
    item.mutable_partitions()->Add(share.partitions.begin(), share.partitions.end());
  }
  const PlanReport& report = outline.report;
  message.set_from_epoch(report.from_epoch);
  message.set_stage(report.stage);
  add_strings(report.steps, *message.mutable_steps());
  message.set_below_n(report.below_n);
  add_strings(report.rack_violations, *message.mutable_rack_violations());
  add_strings(report.warnings, *message.mutable_warnings());
  add_strings(report.waiting, *message.mutable_waiting());
  add_strings(report.not_ready, *message.mutable_not_ready());
  message.set_bytes_per_second(report.bytes_per_second);
}

void fill_report(const TransferReport& report, wire::ClientReply& reply) {
  wire::Transfers& message = *reply.mutable_transfers();
  message.set_node(report.node);
  message.set_bytes_per_second(report.bytes_per_second);
  message.set_limit(report.limit);
  message.set_is_strained(report.is_strained);
  message.set_taken_in(report.taken_in);
  message.set_paused(report.paused);
  message.set_to_take_over(report.to_take_over);
  message.set_taken_over(report.taken_over);
  message.set_to_refill(report.to_refill);
  message.set_to_let_go(report.to_let_go);
  for (const TransferInfo& transfer : report.transfers) {
    wire::Transfers::Pull& item = *message.add_transfers();
    item.set_from(transfer.from);
    item.set_to(transfer.to);
    item.set_partitions(transfer.partitions);
    item.set_partitions_done(transfer.partitions_done);
    item.set_keys(transfer.keys);
    item.set_bytes(transfer.bytes);
    item.set_seconds(transfer.seconds);
  }
}

void fill_report(const ForceReport& report, wire::ClientReply& reply) {
  wire::ForceReport& message = *reply.mutable_force();
  message.set_forced(report.forced);
  message.set_lineage(report.lineage);
  message.set_epoch(report.epoch);
  add_strings(report.survivors, *message.mutable_survivors());
  add_strings(report.lost, *message.mutable_lost());
  message.set_partitions(report.partitions);
  message.mutable_without_copy()->Add(report.without_copy.begin(), report.without_copy.end());
  message.set_fewer_than_needed(report.fewer_than_needed);
  message.set_ends(report.ends);
}

std::optional<ClientReply::Body> report_from(const wire::ClientReply& reply) {
  if (reply.has_hints()) return hints_from(reply.hints());
  if (reply.has_lags()) return lags_from(reply.lags());
  if (reply.has_repair()) return repair_from(reply.repair());
  if (reply.has_purge()) {
    return PurgeReport{reply.purge().erased(), reply.purge().blocked(),
                       strings_from(reply.purge().blocked_by())};
  }
  if (reply.has_scrub()) {
    return ScrubReport{reply.scrub().partitions(), reply.scrub().records(), reply.scrub().leaves_corrected(),
                       strings_from(reply.scrub().problems())};
  }
  if (reply.has_partition_sizes()) return sizes_from(reply.partition_sizes());
  if (reply.has_plan()) return outline_from(reply.plan());
  if (reply.has_transfers()) return transfers_from(reply.transfers());
  if (reply.has_force()) return force_from(reply.force());
  return std::nullopt;
}

}  // namespace ringkv
