// What all requests of one coordinator share: the ring as seen from here, their numbers, what became of
// operations, what is counted, and the way back to who asked.
#pragma once

#include <string>
#include <string_view>

#include "base/client_message.h"
#include "replication/messages.h"
#include "replication/operation_table.h"
#include "replication/request_numbers.h"
#include "replication/request_statistics.h"
#include "replication/ring_view.h"

namespace ringkv {

struct CoordinatorSettings {
  NodeId self;
  Boot boot;
  Durability durability = Durability::kSynced;
  size_t requests_max = 20'000;  // under way at once; more: OVERLOADED
  size_t held_bytes_max =
      size_t{64} << 20;  // of requests under way and in the store's backlog; more: OVERLOADED
  // Of an owner that is silent for so long after a put was sent to it a hint is kept.
  Duration hint_delay = std::chrono::milliseconds(200);
  bool hints = true;  // false: none are kept, and only owners acknowledge puts
  TokenFunction token = &token_of;
};

// How a request came.
struct Arrival {
  Requester requester;
  Time deadline;
  Time now;
  WallMicros wall_now = 0;
  size_t backlog_bytes = 0;  // that the store holds for its disk, of requests answered already too
};

// When something happens: by the loop's clock, and by the wall's, which judges what has expired.
struct Moment {
  Time now;
  WallMicros wall_now = 0;
};

struct RequestEnvironment {
  RequestEnvironment(const CoordinatorSettings& settings, const Ring& ring)
      : settings(settings), view(settings.self, ring, settings.token), numbers(settings.boot) {}

  // To the door that it came through, or to the node that has forwarded it.
  void answer(const Requester& requester, ClientReply reply, MessageOutbox& outbox) const;

  // Nothing was written. A retry that was refused is remembered: its first try, should it come late, must not
  // be taken.
  void refuse(const Arrival& arrival, const ClientPut& put, Token token, Status why, MessageOutbox& outbox);

  const CoordinatorSettings settings;
  RingView view;
  RequestNumbers numbers;
  OperationTable operations;
  RequestStatistics statistics;
  size_t held_bytes = 0;  // of requests under way
};

ClientReply refusal(Status status);
OperationTable::Outcome outcome_of(const Status& status);
Conflict conflict_of(const BucketDescription& bucket);
constexpr uint64_t milliseconds(WallMicros wall) { return wall / 1000; }

// UNKNOWN_OUTCOME; with the name by which its client can learn more, if it gave one.
Status unknown_outcome_of(std::string_view key, const OperationName& operation, std::string_view reason);

}  // namespace ringkv
