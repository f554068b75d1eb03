// How copies of one node converge with those of others: hints kept and delivered, rounds pulled and served,
// tombstones and expired values let go, ended lives closed, data scrubbed. Hands each message to whom it
// concerns, as Coordinator does for clients' requests.
//
// A core: no I/O, no clock of its own. Loop thread.
#pragma once

#include <optional>
#include <vector>

#include "base/cluster_view.h"
#include "replication/boot_closing.h"
#include "replication/convergence_environment.h"
#include "replication/former_ranges.h"
#include "replication/hint_delivery.h"
#include "replication/hint_keeper.h"
#include "replication/round_source.h"
#include "replication/rounds.h"
#include "replication/scrubber.h"
#include "replication/sweeper.h"

namespace ringkv {

class Convergence {
 public:
  Convergence(const ConvergenceSettings& settings, const Ring& ring, RecordStore& store, HintStore& hints,
              Wholeness& wholeness);

  void set_ring(const Ring& ring, Moment moment, MessageOutbox& outbox);
  // Nodes that can be reached again are sent their hints, and pulled from, at once.
  void set_view(const ClusterView& view, Moment moment, MessageOutbox& outbox);
  void on_link_restored(NodeId node, Moment moment, MessageOutbox& outbox);
  // Another life of the node: what was under way with the one before is void.
  void on_boot(NodeId node, Moment moment, MessageOutbox& outbox);
  // What gossip knows for the closing of ended lives.
  void set_boots(BootClosing::Boots boots, Moment moment, MessageOutbox& outbox);
  // This directory is an older copy of itself: nothing that was pulled counts.
  void lose_all(MessageOutbox& outbox);
  void set_time_trusted(bool trusted) { sweeper_.set_time_trusted(trusted); }
  void pace_transfers(const TransferPace::Second& second) { environment_.pace.on_second(second); }

  void refuse_puts(std::string reason) { environment_.puts_refused = std::move(reason); }
  void take_puts() { environment_.puts_refused.clear(); }

  void on(const Arrival& arrival, const ClientRepair& repair, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientPurge& purge, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientScrub& scrub, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientHints& hints, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientLag& lag, MessageOutbox& outbox);
  void on(const Arrival& arrival, const ClientTransfers& transfers, MessageOutbox& outbox);

  void on(NodeId from, HintPut put, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, HintCovered covered, Moment moment, MessageOutbox& outbox);
  void on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox);  // of a kBackground number
  void on(NodeId from, const RoundCompare& compare, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, const RoundOpen& open, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundWalk walk, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundDigests digests, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundLeaves leaves, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RoundSlice slice, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, RangesOffered offered, Moment moment, MessageOutbox& outbox);
  void on(NodeId from, const RangesTaken& taken, Moment moment, MessageOutbox& outbox);
  void on(RangeRead read, Moment moment, MessageOutbox& outbox);
  void on(HintRead read, Moment moment, MessageOutbox& outbox);
  void on(HintsRead read, Moment moment, MessageOutbox& outbox);
  void on(TransientRead read, Moment moment, MessageOutbox& outbox);

  void on_committed(BatchNumber batch, Moment moment, MessageOutbox& outbox);
  void tick(Moment moment, MessageOutbox& outbox);
  void fail_all(const Status& why, MessageOutbox& outbox);

  void answer(const Requester& requester, ClientReply reply, MessageOutbox& outbox) const {
    environment_.answer(requester, std::move(reply), outbox);
  }

  const ConvergenceStatistics& statistics() const { return environment_.statistics; }
  void add_to(Statistics& statistics, Time now, WallMicros wall_now) const;
  uint64_t lag_ms(Time now) const { return rounds_.lag_ms(now); }
  uint64_t boots_without_hints() const { return closing_.boots_without_hints(); }
  // The epoch of a begun change for which all that this node is to own is here, and on disk; 0: none.
  uint64_t ready_epoch() const { return ready_.on_disk ? ready_.epoch : 0; }
  const FormerRanges& former() const { return former_; }
  const Takeover& takeover() const { return environment_.takeover; }
  size_t taken_over() const { return environment_.takeover.ready(environment_.view, environment_.wholeness); }
  const TransferPace& pace() const { return environment_.pace; }

 private:
  struct Ready {
    uint64_t epoch = 0;
    BatchNumber batch = 0;
    bool on_disk = false;
  };

  void record_wholeness(MessageOutbox& outbox);
  void look_ready(Time now, MessageOutbox& outbox);

  ConvergenceEnvironment environment_;
  HintKeeper keeper_;
  HintDelivery delivery_;
  RoundSource source_;
  Rounds rounds_;
  Sweeper sweeper_;
  BootClosing closing_;
  Scrubber scrubber_;
  FormerRanges former_;
  Ready ready_;
  Time ready_looked_at_{};
};

}  // namespace ringkv
