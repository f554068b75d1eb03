#include "replication/convergence.h"

#include <utility>

namespace ringkv {
namespace {

constexpr Duration kReadyPause = std::chrono::milliseconds(100);  // a look at all that is taken over

}  // namespace

Convergence::Convergence(const ConvergenceSettings& settings, const Ring& ring, RecordStore& store,
                         HintStore& hints, Wholeness& wholeness)
    : environment_(settings, ring, store, hints, wholeness),
      keeper_(environment_),
      delivery_(environment_),
      source_(environment_),
      rounds_(environment_),
      sweeper_(environment_),
      closing_(environment_),
      scrubber_(environment_),
      former_(environment_) {
  wholeness.forget_foreign(ring, settings.self);
  environment_.takeover.set_ring(ring, settings.self);
  // How far the life before had come in that isn't known.
  for (const Partition partition : environment_.takeover.gained()) wholeness.lose(partition);
  for (const Partition partition : environment_.takeover.orphaned(ring)) wholeness.make_whole(partition);
  former_.set_ring({});
}

// What it comes to own isn't whole, whatever is there of an earlier ownership; and that is on disk with the
// ring.
void Convergence::set_ring(const Ring& ring, Moment moment, MessageOutbox& outbox) {
  const NodeId self = environment_.view.self();
  const Ring& before = environment_.view.ring();
  environment_.wholeness.forget_foreign(ring, self);
  for (Partition partition = 0; partition < ring.partitions() && ring.description().open; ++partition) {
    if (ring.is_owner(self, partition) && !before.is_owner(self, partition))
      environment_.wholeness.lose(partition);
  }
  environment_.takeover.set_ring(ring, self);
  // It may have been no owner by a ring in between.
  for (const Partition partition : environment_.takeover.gained()) {
    if (before.is_present_owner(self, partition)) environment_.wholeness.lose(partition);
  }
  for (const Partition partition : environment_.takeover.orphaned(ring))
    environment_.wholeness.make_whole(partition);
  environment_.view.set_ring(ring);
  ready_ = {};
  rounds_.set_ring(moment, outbox);
  former_.set_ring(moment);
  record_wholeness(outbox);
}

void Convergence::lose_all(MessageOutbox& outbox) {
  environment_.wholeness.lose_all();
  environment_.wholeness.forget_foreign(environment_.view.ring(), environment_.view.self());
  environment_.takeover.begin_again();
  ready_ = {};
  rounds_.make_void(unavailable("what was here is lost"));
  record_wholeness(outbox);
}

void Convergence::record_wholeness(MessageOutbox& outbox) {
  if (std::optional<MetaRecord> record = environment_.wholeness.take_record())
    outbox.record(std::move(*record));
}

// Others rely on it: so all that was pulled must be on disk first.
void Convergence::look_ready(Time now, MessageOutbox& outbox) {
  if (environment_.view.ring().description().change == std::nullopt) return;
  if (now < ready_looked_at_ + kReadyPause) return;
  ready_looked_at_ = now;
  const uint64_t epoch = environment_.takeover.ready_epoch(environment_.view, environment_.wholeness);
  if (epoch == ready_.epoch) return;
  ready_ = {.epoch = epoch, .batch = environment_.store.open_batch()};
  environment_.store.require_sync();
  outbox.staged();
}

void Convergence::set_view(const ClusterView& view, Moment moment, MessageOutbox& outbox) {
  const RingView before = environment_.view;
  environment_.view.set_view(view);
  for (const Member& member : environment_.view.ring().description().members) {
    const bool reachable = environment_.view.is_reachable(member.node);
    if (reachable == before.is_reachable(member.node)) continue;
    rounds_.set_reachable(member.node, reachable, moment, outbox);
    if (reachable) delivery_.restart(member.node, moment, outbox);
  }
}

void Convergence::on_link_restored(NodeId node, Moment moment, MessageOutbox& outbox) {
  rounds_.on_link_restored(node, moment, outbox);
  delivery_.restart(node, moment, outbox);
}

void Convergence::on_boot(NodeId node, Moment moment, MessageOutbox& outbox) {
  environment_.wholeness.forget_rounds_from(node);
  environment_.takeover.forget_rounds_from(node);
  former_.on_boot(node);
  rounds_.on_boot(node, moment, outbox);
  closing_.on_boot(moment);
  delivery_.restart(node, moment, outbox);
}

void Convergence::set_boots(BootClosing::Boots boots, Moment moment, MessageOutbox&) {
  closing_.set_boots(std::move(boots), moment);
}

void Convergence::on(const Arrival& arrival, const ClientRepair& repair, MessageOutbox& outbox) {
  rounds_.on(arrival, repair, outbox);
}

void Convergence::on(const Arrival& arrival, const ClientPurge& purge, MessageOutbox& outbox) {
  sweeper_.on(arrival, purge, outbox);
}

void Convergence::on(const Arrival& arrival, const ClientScrub& scrub, MessageOutbox& outbox) {
  scrubber_.on(arrival, scrub, outbox);
}

void Convergence::on(const Arrival& arrival, const ClientTransfers& transfers, MessageOutbox& outbox) {
  rounds_.on(arrival, transfers, outbox);
}

void Convergence::on(const Arrival& arrival, const ClientLag& lag, MessageOutbox& outbox) {
  rounds_.on(arrival, lag, outbox);
}

void Convergence::on(const Arrival& arrival, const ClientHints&, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  std::vector<HintInfo> infos;
  for (const auto& [node, count] : environment_.hints.counts()) {
    infos.push_back({.intended = view.name_of(node),
                     .held_by = view.name_of(view.self()),
                     .hints = count.hints,
                     .bytes = count.bytes});
  }
  ClientReply reply;
  reply.body = std::move(infos);
  environment_.answer(arrival.requester, std::move(reply), outbox);
}

void Convergence::on(NodeId from, HintPut put, Moment moment, MessageOutbox& outbox) {
  keeper_.on(from, std::move(put), moment, outbox);
}

void Convergence::on(NodeId, HintCovered covered, Moment moment, MessageOutbox& outbox) {
  keeper_.on(std::move(covered), moment, outbox);
}

void Convergence::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  if (!delivery_.on(ack, moment, outbox)) rounds_.on(ack, moment, outbox);
}

void Convergence::on(NodeId from, const RoundCompare& compare, Moment, MessageOutbox& outbox) {
  source_.on(from, compare, outbox);
}

void Convergence::on(NodeId from, const RoundOpen& open, Moment, MessageOutbox& outbox) {
  source_.on(from, open, outbox);
}

void Convergence::on(NodeId from, RoundWalk walk, Moment, MessageOutbox& outbox) {
  source_.on(from, std::move(walk), outbox);
}

void Convergence::on(NodeId from, RoundDigests digests, Moment moment, MessageOutbox& outbox) {
  rounds_.on(from, std::move(digests), moment, outbox);
}

void Convergence::on(NodeId from, RoundLeaves leaves, Moment moment, MessageOutbox& outbox) {
  rounds_.on(from, std::move(leaves), moment, outbox);
}

void Convergence::on(NodeId from, RoundSlice slice, Moment moment, MessageOutbox& outbox) {
  rounds_.on(from, std::move(slice), moment, outbox);
}

void Convergence::on(NodeId from, RangesOffered offered, Moment moment, MessageOutbox& outbox) {
  rounds_.on(from, std::move(offered), moment, outbox);
}

void Convergence::on(NodeId from, const RangesTaken& taken, Moment moment, MessageOutbox&) {
  former_.on(from, taken, moment);
}

void Convergence::on(RangeRead read, Moment moment, MessageOutbox& outbox) {
  if (source_.on(read, outbox) || rounds_.on(read, moment, outbox)) return;
  scrubber_.on(read, moment, outbox);
}

void Convergence::on(HintRead read, Moment moment, MessageOutbox& outbox) {
  keeper_.on(read, moment, outbox);
}

void Convergence::on(HintsRead read, Moment moment, MessageOutbox& outbox) {
  if (!delivery_.on(read, moment, outbox)) closing_.on(read, moment, outbox);
}

void Convergence::on(TransientRead read, Moment moment, MessageOutbox& outbox) {
  sweeper_.on(read, moment, outbox);
}

void Convergence::on_committed(BatchNumber batch, Moment moment, MessageOutbox& outbox) {
  environment_.hints.committed(batch);
  if (ready_.epoch != 0 && batch >= ready_.batch) ready_.on_disk = true;
  source_.on_committed(batch, outbox);
  rounds_.on_committed(batch, outbox);
  scrubber_.on_committed(batch, moment, outbox);
}

void Convergence::tick(Moment moment, MessageOutbox& outbox) {
  delivery_.tick(moment, outbox);
  rounds_.tick(moment, outbox);
  sweeper_.tick(moment, outbox);
  closing_.tick(
      moment, sweeper_.blocked(), [this](NodeId node) { return rounds_.last_complete(node); }, outbox);
  scrubber_.tick(moment, outbox);
  former_.tick(moment, outbox);
  record_wholeness(outbox);
  look_ready(moment.now, outbox);
}

void Convergence::fail_all(const Status& why, MessageOutbox& outbox) {
  rounds_.fail_all(why, outbox);
  sweeper_.fail_all(why, outbox);
  scrubber_.fail_all(why, outbox);
}

void Convergence::add_to(Statistics& statistics, Time now, WallMicros wall_now) const {
  const ConvergenceStatistics& counted = environment_.statistics;
  const auto set = [&](const char* name, uint64_t value) { statistics[name] = static_cast<double>(value); };
  set("hints.stored", counted.hints_stored);
  set("hints.refused", counted.hints_refused);
  set("hints.delivered", counted.hints_delivered);
  set("hints.cancelled", counted.hints_cancelled);
  set("hints.redirected", counted.hints_redirected);
  set("rounds.ended", counted.rounds);
  set("rounds.equal", counted.rounds_equal);
  set("rounds.failed", counted.rounds_failed);
  set("rounds.under_way", rounds_.under_way());
  set("rounds.differences", counted.differences);
  set("rounds.keys_received", counted.keys_received);
  set("rounds.bytes_received", counted.bytes_received);
  set("rounds.keys_sent", counted.keys_sent);
  set("rounds.bytes_sent", counted.bytes_sent);
  set("rounds.leaves_opened", counted.leaves_opened);
  set("rounds.lag_ms", rounds_.lag_ms(now));
  set("tombstones.erased", counted.tombstones_erased);
  set("expired.erased", counted.expired_erased);
  set("lives.closed", counted.lives_closed);
  set("former.partitions", former_.partitions());
  set("former.untaken", former_.untaken());
  set("former.dropped", former_.dropped());
  set("scrub.records", counted.scrubbed_records);
  set("scrub.leaves_corrected", counted.leaves_corrected);
  set("scrub.problems", counted.scrub_problems);
  sweeper_.add_to(statistics, wall_now);
}

}  // namespace ringkv
