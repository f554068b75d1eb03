// What all that converges in the background shares: the ring as seen from here, the stores, what is counted,
// numbers for what is under way.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "replication/messages.h"
#include "replication/request_environment.h"
#include "replication/request_numbers.h"
#include "replication/ring_view.h"
#include "replication/takeover.h"
#include "replication/transfer_pace.h"
#include "replication/wholeness.h"
#include "storage/hint_store.h"
#include "storage/record_store.h"

namespace ringkv {

struct ConvergenceSettings {
  NodeId self;
  Boot boot;
  Duration round_interval = std::chrono::seconds(10);    // a pair, jittered; zero: only when asked to
  uint64_t hint_budget_bytes = uint64_t{256} << 20;      // for each intended node; zero: no hints are kept
  Duration scrub_interval = std::chrono::hours(7 * 24);  // zero: only when asked to
  Duration drop_grace = std::chrono::minutes(10);  // data of former partitions are kept so long at least
  TokenFunction token = &token_of;
};

// Counters since the start of this life; `stats` shows them by these names.
struct ConvergenceStatistics {
  uint64_t hints_stored = 0;      // or merged into one that was there
  uint64_t hints_refused = 0;     // budget or disk: never acknowledged
  uint64_t hints_delivered = 0;   // acknowledged by the intended node, and removed
  uint64_t hints_cancelled = 0;   // the intended node had acknowledged the write after all
  uint64_t hints_redirected = 0;  // to the present owners, since the intended node owns the key no longer
  uint64_t rounds = 0;            // pulls from one node that have ended
  uint64_t rounds_equal = 0;      // of those: at the first message
  uint64_t rounds_failed = 0;
  uint64_t differences = 0;  // keys of which a source had something that was lacking here
  uint64_t keys_received = 0;
  uint64_t bytes_received = 0;
  uint64_t keys_sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t leaves_opened = 0;
  uint64_t tombstones_erased = 0;
  uint64_t expired_erased = 0;
  uint64_t lives_closed = 0;
  uint64_t scrubbed_records = 0;
  uint64_t leaves_corrected = 0;
  uint64_t scrub_problems = 0;  // records that can't be read, or aren't what their stored hash says
};

struct ConvergenceEnvironment {
  ConvergenceEnvironment(const ConvergenceSettings& settings, const Ring& ring, RecordStore& store,
                         HintStore& hints, Wholeness& wholeness)
      : settings(settings),
        view(settings.self, ring, settings.token),
        store(store),
        hints(hints),
        wholeness(wholeness),
        numbers(Boot{~settings.boot.value}) {}

  RequestNumber next_number() { return numbers.next() | kBackground; }

  // A round from the source has ended and covers these partitions. `incomplete`: of those the source isn't
  // whole.
  void on_round(const std::vector<Partition>& partitions, NodeId source,
                const std::set<Partition>& incomplete);

  // Equal data aren't enough of a round: this node must learn all that the source claims there. Who has let
  // go what was deleted looks as empty as a disk that was wiped, and what it knows of that is in its floor
  // alone.
  bool needs_claims(Partition partition) const {
    return store.floors().is_limited(partition) || !wholeness.is_whole(partition) ||
           takeover.is_pending(partition);
  }

  // To the door that it came through, or to the node that has forwarded it.
  void answer(const Requester& requester, ClientReply reply, MessageOutbox& outbox) const;

  const ConvergenceSettings settings;
  RingView view;
  RecordStore& store;
  HintStore& hints;
  Wholeness& wholeness;
  Takeover takeover;
  TransferPace pace;
  std::set<Partition> former;  // not owned any more, and some of it lies here still (former_ranges.h)
  uint64_t drops = 0;          // of those, so far: what is being read of one is void
  RequestNumbers numbers;
  ConvergenceStatistics statistics;
  bool floors_raised = false;  // since the sweeper last looked
  std::string puts_refused;    // the disk is nearly full: no hints for others, no transfers into this node
};

}  // namespace ringkv
