// What the coordinator, the replicas and the shell say to each other. A node's own replica is addressed like
// any other, through the outbox, so that a local and a remote copy have one path.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "base/client_message.h"
#include "base/ids.h"
#include "base/outbox.h"
#include "base/time.h"
#include "storage/place.h"
#include "storage/record.h"
#include "storage/scan.h"

namespace ringkv {

// The coordinator's number of a request under way; never reused in a life.
using RequestNumber = uint64_t;

// Who waits for an answer: a connection and its number of the request.
struct Requester {
  uint64_t connection = 0;
  uint64_t request = 0;
};

// To a replica that owns the key: make a new version of it.
struct StampPut {
  RequestNumber request = 0;
  Place place;
  std::string key;
  VersionKind kind = VersionKind::kValue;
  std::string value;
  std::optional<CausalContext> context;  // nothing: blind
  uint64_t expires_at_ms = 0;
  OperationId operation;
  Conflict conflict = Conflict::kSiblings;
  bool sync = true;
  Time deadline;
};

struct StampPutAck {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
  // Of the record that resulted; nothing where siblings stayed: a context of them all would let their next
  // writer replace what it has never seen.
  std::optional<CausalContext> context;
};

struct ReplicaGet {
  RequestNumber request = 0;
  Place place;
  std::string key;
  Time deadline;
};

struct ReplicaGetReply {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
  Record record;  // committed; without versions: nothing is there
};

// To the own disk, off the loop; each comes back as its answer.
struct ReadRecord {
  uint64_t ticket = 0;
  Place place;
  Time deadline;  // not read when its turn comes later than this
};
struct RecordRead {
  uint64_t ticket = 0;
  Status status;
  std::string bytes;  // empty: absent
};

struct ReadSlice {
  RequestNumber request = 0;
  ScanStep step;
  Time deadline;
};
struct SliceRead {
  RequestNumber request = 0;
  Status status;
  ScanSlice slice;
};

// To the door that the request came through.
struct ClientAnswer {
  Requester requester;
  ClientReply reply;
};

using Message =
    std::variant<StampPut, StampPutAck, ReplicaGet, ReplicaGetReply, ReadRecord, ReadSlice, ClientAnswer>;
using MessageOutbox = Outbox<Message>;

}  // namespace ringkv
