#include "replication/rounds.h"

#include <algorithm>
#include <utility>

#include "base/random.h"
#include "base/text.h"
#include "replication/round_source.h"

namespace ringkv {
namespace {

constexpr Duration kRetryAfter = std::chrono::seconds(1);
constexpr Duration kSoon = std::chrono::milliseconds(100);
constexpr size_t kRepairsMax = 16;

}  // namespace

// Not all nodes at one time, nor one node from all others.
Duration Rounds::jittered(NodeId source) {
  const Duration interval = environment_.settings.round_interval;
  SeededRandom random(environment_.settings.boot.value ^ source.value ^ ++last_pull_);
  return interval * 3 / 4 +
         Duration(static_cast<int64_t>(random.next() % (static_cast<uint64_t>(interval.count()) / 2 + 1)));
}

void Rounds::learn_sources(Moment moment) {
  const RingView& view = environment_.view;
  if (!std::exchange(started_, true)) started_at_ = moment.now;
  if (sources_epoch_ == view.ring().epoch()) return;
  sources_epoch_ = view.ring().epoch();
  std::map<NodeId, Source> before = std::exchange(sources_, {});
  for (const Member& member : view.ring().description().members) {
    if (member.node == view.self()) continue;
    Source& source = sources_[member.node];
    if (const auto known = before.find(member.node); known != before.end()) source = known->second;
    source.shares = !shared_partitions(view, view.self(), member.node).empty();
    source.last_complete.reset();
    SeededRandom random(environment_.settings.boot.value ^ member.node.value);
    source.next_at = moment.now + kSoon + Duration(static_cast<int64_t>(random.next() % 900'000));
  }
}

void Rounds::tick(Moment moment, MessageOutbox& outbox) {
  learn_sources(moment);
  for (auto& [id, pull] : pulls_) pull.tick(moment, outbox);
  take_ended(moment, outbox);
  // Without an interval, too, a change of the ring takes over what it must.
  const bool is_periodic = environment_.settings.round_interval > Duration();
  if (is_periodic || environment_.takeover.partitions() > 0) {
    for (auto& [node, source] : sources_) {
      if (moment.now < source.next_at || !environment_.view.is_reachable(node)) continue;
      source.next_at = moment.now + (is_periodic ? jittered(node) : kRetryAfter);
      if (!pulls_all_of(node)) start(node, {}, moment, outbox);
    }
  }
  answer_repairs(moment, outbox);
}

bool Rounds::pulls_all_of(NodeId source) const {
  return std::any_of(pulls_.begin(), pulls_.end(), [source](const auto& pull) {
    return pull.second.source() == source && pull.second.is_of_all();
  });
}

uint64_t Rounds::start(NodeId source, std::vector<Partition> named, Moment moment, MessageOutbox& outbox) {
  const uint64_t id = ++last_pull_;
  Pull& pull = pulls_.try_emplace(id, environment_, open_, source, std::move(named), moment).first->second;
  pull.start(moment, outbox);
  return id;
}

void Rounds::soon(NodeId source, Moment moment) {
  const auto at = sources_.find(source);
  if (at == sources_.end()) return;
  at->second.next_at = std::min(at->second.next_at, moment.now + kSoon);
}

void Rounds::void_pulls_of(NodeId source, const Status& why) {
  for (auto& [id, pull] : pulls_) {
    if (pull.source() == source) pull.make_void(why);
  }
}

void Rounds::set_ring(Moment, MessageOutbox&) { make_void(unavailable("the ring has changed")); }

void Rounds::make_void(const Status& why) {
  for (auto& [id, pull] : pulls_) pull.make_void(why);
}

void Rounds::set_reachable(NodeId node, bool reachable, Moment moment, MessageOutbox&) {
  if (reachable) return soon(node, moment);
  for (auto& [id, pull] : pulls_) {
    if (pull.source() == node) pull.fail(unavailable("can't be reached"));
  }
}

void Rounds::on_link_restored(NodeId node, Moment moment, MessageOutbox&) {
  void_pulls_of(node, unavailable("what was sent may be lost"));
  soon(node, moment);
}

void Rounds::on_boot(NodeId node, Moment moment, MessageOutbox&) {
  void_pulls_of(node, unavailable("has begun another life"));
  if (const auto at = sources_.find(node); at != sources_.end()) at->second.last_complete.reset();
  soon(node, moment);
}

void Rounds::on(NodeId from, RoundDigests digests, Moment moment, MessageOutbox& outbox) {
  for (auto& [id, pull] : pulls_) {
    if (pull.source() == from && pull.on(digests, moment, outbox)) return;
  }
}

void Rounds::on(NodeId from, RoundLeaves leaves, Moment moment, MessageOutbox& outbox) {
  for (auto& [id, pull] : pulls_) {
    if (pull.source() == from && pull.on(leaves, moment, outbox)) return;
  }
}

void Rounds::on(NodeId from, RoundSlice slice, Moment moment, MessageOutbox& outbox) {
  for (auto& [id, pull] : pulls_) {
    if (pull.source() == from && pull.on(slice, moment, outbox)) return;
  }
}

bool Rounds::on(RangeRead& read, Moment moment, MessageOutbox& outbox) {
  return std::any_of(pulls_.begin(), pulls_.end(),
                     [&](auto& pull) { return pull.second.on(read, moment, outbox); });
}

bool Rounds::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  return std::any_of(pulls_.begin(), pulls_.end(),
                     [&](auto& pull) { return pull.second.on(ack, moment, outbox); });
}

void Rounds::on_committed(BatchNumber batch, MessageOutbox& outbox) {
  for (auto& [id, pull] : pulls_) pull.on_committed(batch, outbox);
}

void Rounds::take_ended(Moment moment, MessageOutbox& outbox) {
  for (auto at = pulls_.begin(); at != pulls_.end();) {
    if (!at->second.ended()) {
      ++at;
      continue;
    }
    take(at->first, at->second, moment, outbox);
    at = pulls_.erase(at);
  }
}

void Rounds::take(uint64_t id, const Pull& pull, Moment moment, MessageOutbox& outbox) {
  const PartitionRound::Counts& counts = pull.counts();
  if (!pull.is_void()) count(pull, moment);
  end_offer(id, pull, outbox);
  for (Repair& repair : repairs_) {
    if (std::find(repair.pulls.begin(), repair.pulls.end(), id) == repair.pulls.end()) continue;
    repair.report.differences += counts.differences;
    repair.report.keys_sent += counts.keys;
    repair.report.bytes_sent += counts.bytes;
  }
  if (pull.is_void() && sources_.contains(pull.source()) && environment_.view.is_reachable(pull.source())) {
    return begin_anew(id, pull, moment, outbox);
  }
  for (Repair& repair : repairs_) {
    if (std::erase(repair.pulls, id) == 0) continue;
    repair.report.partitions += pull.partitions();
    if (pull.status().ok()) continue;
    repair.report.partial = true;
    repair.report.problems.push_back(
        cat(environment_.view.name_of(pull.source()), ": ", pull.status().message()));
  }
}

// Its sender offers again what it isn't told of.
void Rounds::on(NodeId from, RangesOffered offered, Moment moment, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  std::erase_if(offered.partitions, [&](Partition partition) {
    return partition >= view.ring().partitions() || !view.ring().is_owner(view.self(), partition);
  });
  if (offered.partitions.empty() || offers_.contains(from)) return;
  offers_[from] = {start(from, std::move(offered.partitions), moment, outbox), offered.epoch};
}

// Its sender lets go of them: they must be on disk here.
void Rounds::end_offer(uint64_t id, const Pull& pull, MessageOutbox& outbox) {
  const auto offer = offers_.find(pull.source());
  if (offer == offers_.end() || offer->second.pull != id) return;
  RangesTaken taken{.epoch = offer->second.epoch, .partitions = pull.pulled()};
  offers_.erase(offer);
  if (pull.is_void() || taken.partitions.empty()) return;
  std::sort(taken.partitions.begin(), taken.partitions.end());
  environment_.store.require_sync();
  outbox.staged();
  outbox.send(pull.source(), std::move(taken));
}

void Rounds::count(const Pull& pull, Moment moment) {
  ConvergenceStatistics& statistics = environment_.statistics;
  ++(pull.status().ok() ? statistics.rounds : statistics.rounds_failed);
  if (pull.status().ok() && pull.was_equal()) ++statistics.rounds_equal;
  const auto at = sources_.find(pull.source());
  if (at == sources_.end() || !pull.is_of_all()) return;
  Source& source = at->second;
  source.differing_partitions = pull.differing();
  if (pull.status().ok()) {
    source.failures = 0;
    source.problem.clear();
    source.last_complete = pull.began();
    source.counter = pull.source_counter();
    source.life = pull.source_life();
  } else {
    source.problem = pull.status().message();
    const Duration pause = kRetryAfter * (1U << std::min(source.failures++, 10U));
    source.next_at = std::min(source.next_at, moment.now + pause);
  }
}

// Who asked for a repair still waits; what goes on by itself comes again by itself.
void Rounds::begin_anew(uint64_t id, const Pull& pull, Moment moment, MessageOutbox& outbox) {
  if (!serves_a_repair(id)) return;
  const uint64_t anew = start(pull.source(), pull.named(), moment, outbox);
  for (Repair& repair : repairs_) std::replace(repair.pulls.begin(), repair.pulls.end(), id, anew);
}

bool Rounds::serves_a_repair(uint64_t id) const {
  return std::any_of(repairs_.begin(), repairs_.end(), [id](const Repair& repair) {
    return std::find(repair.pulls.begin(), repair.pulls.end(), id) != repair.pulls.end();
  });
}

Status Rounds::check_partition(std::optional<Partition> partition) const {
  const RingView& view = environment_.view;
  if (!partition) return {};
  if (*partition >= view.ring().partitions()) {
    return invalid_argument(cat("there is no partition ", *partition, ": the ring has ",
                                view.ring().partitions(), ", numbered from 0"));
  }
  const std::vector<NodeId> owners = view.holders_of(*partition);
  if (std::find(owners.begin(), owners.end(), view.self()) != owners.end()) return {};
  return invalid_argument(cat(view.name_of(view.self()), " doesn't own partition ", *partition, ": ",
                              view.names_of(owners), " do"));
}

void Rounds::on(const Arrival& arrival, const ClientRepair& repair, MessageOutbox& outbox) {
  const Moment moment{arrival.now, arrival.wall_now};
  const RingView& view = environment_.view;
  learn_sources(moment);
  Status status = check_partition(repair.partition);
  if (status.ok() && repairs_.size() >= kRepairsMax) status = overloaded("enough repairs are under way here");
  if (!status.ok()) return environment_.answer(arrival.requester, refusal(std::move(status)), outbox);

  Repair begun{.requester = arrival.requester, .deadline = arrival.deadline, .pulls = {}, .report = {}};
  if (repair.accept_loss) {
    begun.report.accepted_loss = environment_.wholeness.accept_loss();
    repairs_.push_back(std::move(begun));
    return answer_repairs(moment, outbox);
  }
  for (const NodeId source : sources()) {
    if (repair.partition) {
      const std::vector<NodeId> owners = view.holders_of(*repair.partition);
      if (std::find(owners.begin(), owners.end(), source) == owners.end()) continue;
    }
    if (view.is_reachable(source)) {
      if (!repair.partition) forget_periodic_pull_of(source);
      std::vector<Partition> named;
      if (repair.partition) named.push_back(*repair.partition);
      begun.pulls.push_back(start(source, std::move(named), moment, outbox));
    } else {
      begun.report.partial = true;
      begun.report.problems.push_back(cat(view.name_of(source), " can't be reached"));
    }
  }
  repairs_.push_back(std::move(begun));
  answer_repairs(moment, outbox);
}

// The repair's does the same, and begins now.
void Rounds::forget_periodic_pull_of(NodeId source) {
  std::erase_if(pulls_, [&](const auto& pull) {
    return pull.second.source() == source && pull.second.is_of_all() && !serves_a_repair(pull.first);
  });
}

void Rounds::answer_repairs(Moment moment, MessageOutbox& outbox) {
  std::erase_if(repairs_, [&](Repair& repair) {
    if (!repair.pulls.empty() && moment.now < repair.deadline) return false;
    if (!repair.pulls.empty()) {
      environment_.answer(repair.requester,
                          refusal(unavailable("repair: timed out; what it has begun goes on")), outbox);
      return true;
    }
    ClientReply reply;
    reply.body = std::move(repair.report);
    environment_.answer(repair.requester, std::move(reply), outbox);
    return true;
  });
}

void Rounds::on(const Arrival& arrival, const ClientLag&, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  std::vector<LagInfo> infos;
  for (const auto& [node, source] : sources_) {
    if (!source.shares) continue;
    LagInfo& info = infos.emplace_back();
    info.from = view.name_of(node);
    info.to = view.name_of(view.self());
    if (source.last_complete)
      info.lag_seconds = std::chrono::duration<double>(arrival.now - *source.last_complete).count();
    info.differing_partitions = source.differing_partitions;
    for (const Partition partition : shared_partitions(view, view.self(), node)) {
      const uint64_t merged = environment_.store.floors().floor(partition).counter_of(source.life);
      info.behind = std::max(info.behind, source.counter - std::min(source.counter, merged));
    }
    info.problem = view.is_reachable(node) ? source.problem : "can't be reached";
  }
  ClientReply reply;
  reply.body = std::move(infos);
  environment_.answer(arrival.requester, std::move(reply), outbox);
}

void Rounds::on(const Arrival& arrival, const ClientTransfers&, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const TransferPace& pace = environment_.pace;
  TransferReport report{.node = view.name_of(view.self()),
                        .bytes_per_second = pace.bytes_per_second(),
                        .limit = pace.limit(),
                        .is_strained = pace.is_strained(),
                        .taken_in = pace.taken_in(),
                        .paused = environment_.puts_refused,
                        .to_take_over = environment_.takeover.partitions(),
                        .taken_over = environment_.takeover.ready(view, environment_.wholeness),
                        .to_refill = environment_.wholeness.incomplete(),
                        .to_let_go = environment_.former.size()};
  for (const auto& [id, pull] : pulls_) {
    if (pull.differing() == 0) continue;
    report.transfers.push_back(
        {.from = view.name_of(pull.source()),
         .to = report.node,
         .partitions = pull.differing(),
         .partitions_done = pull.differing() - pull.to_do(),
         .keys = pull.counts().keys,
         .bytes = pull.counts().bytes,
         .seconds = std::chrono::duration<double>(arrival.now - pull.began()).count()});
  }
  ClientReply reply;
  reply.body = std::move(report);
  environment_.answer(arrival.requester, std::move(reply), outbox);
}

std::vector<NodeId> Rounds::sources() const {
  std::vector<NodeId> nodes;
  for (const auto& [node, source] : sources_) {
    if (source.shares) nodes.push_back(node);
  }
  return nodes;
}

std::optional<Time> Rounds::last_complete(NodeId source) const {
  const auto at = sources_.find(source);
  return at == sources_.end() ? std::nullopt : at->second.last_complete;
}

uint64_t Rounds::lag_ms(Time now) const {
  uint64_t lag = 0;
  for (const auto& [node, source] : sources_) {
    if (!source.shares) continue;
    const Duration since = now - source.last_complete.value_or(started_at_);
    lag = std::max<uint64_t>(lag, std::chrono::duration_cast<std::chrono::milliseconds>(since).count());
  }
  return lag;
}

void Rounds::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const Repair& repair : std::exchange(repairs_, {}))
    environment_.answer(repair.requester, refusal(unavailable(why.message())), outbox);
  pulls_.clear();
  offers_.clear();
}

}  // namespace ringkv
