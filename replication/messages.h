// What the coordinator, the replicas and the shell say to each other. A node's own replica is addressed like
// any other, through the outbox, so that a local and a remote copy have one path.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/client_message.h"
#include "base/ids.h"
#include "base/outbox.h"
#include "base/time.h"
#include "storage/place.h"
#include "storage/record.h"
#include "storage/record_hash.h"
#include "storage/scan.h"

namespace ringkv {

// The coordinator's number of a request under way; never reused, not by another life of its node either.
using RequestNumber = uint64_t;

// Who waits for an answer: a connection and its number of the request, or a node that has forwarded it.
struct Requester {
  uint64_t connection = 0;
  uint64_t request = 0;
  NodeId forwarded_by;  // zero: it came through a door of this node
};

// Encoded records go to several nodes, and stay for those that are slow: shared, never copied.
using SharedBytes = std::shared_ptr<const std::string>;

// To a replica that owns the key: make a new version of it.
struct StampPut {
  RequestNumber request = 0;
  Place place;
  std::string bucket;
  std::string key;
  VersionKind kind = VersionKind::kValue;
  std::string value;
  std::optional<CausalContext> context;  // nothing: blind
  CausalContext seen;                    // of a blind put: joined with what the record holds
  uint64_t expires_at_ms = 0;
  OperationId operation;
  Conflict conflict = Conflict::kSiblings;
  bool sync = true;
  Time deadline;
};

// To its coordinator, ahead of the record on its way to the disk: what goes to the other owners.
struct PutStamped {
  RequestNumber request = 0;
  SharedBytes record;          // encoded, its context filled
  CausalContext context;       // of that record
  bool siblings_stay = false;  // beside the new version: its writer has not seen them
};

struct StampPutAck {
  RequestNumber request = 0;
  NodeId replica;
  Status status;  // refused: nothing was stamped
};

// To an owner: merge this record into yours. The one way in which a copy changes, but for a stamp.
struct ReplicaPut {
  RequestNumber request = 0;  // 0: nobody counts the acknowledgement
  Place place;                // never sent: computed by the node that it comes to
  std::string bucket;
  std::string key;
  SharedBytes record;  // encoded, its context filled
  Conflict conflict = Conflict::kSiblings;
  Source source = Source::kPut;
  bool sync = true;
  Time deadline;
};

struct ReplicaPutAck {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
};

struct ReplicaGet {
  RequestNumber request = 0;
  Place place;  // never sent: computed by the node that it comes to
  std::string bucket;
  std::string key;
  bool digest = false;   // no values
  bool inspect = false;  // for people, not for a quorum: a replica that isn't whole answers too
  Time deadline;
};

struct ReplicaGetReply {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
  bool digest = false;  // the record has its context and no versions; the hash stands for them
  Record record;        // committed, its context filled; without versions: nothing is there
  Hash128 hash;         // of the record's versions
};

// To an owner of some partitions: the records of one walk that fall into them, in token order.
struct ReplicaScan {
  RequestNumber request = 0;
  std::string bucket;
  std::string prefix;
  std::string after;                  // storage key of the last record seen; empty: from the start
  std::vector<Partition> partitions;  // in order; records of others aren't wanted
  uint32_t records_max = 0;
  bool values = false;  // false: values may be left out of the records, as long as it can be told who lives
  Time deadline;
};

struct ReplicaScanReply {
  struct Entry {
    std::string storage_key;
    SharedBytes record;  // encoded, its context filled
  };

  RequestNumber request = 0;
  NodeId replica;
  Status status;
  std::vector<Entry> entries;
  std::string last;     // storage key up to which it has looked
  bool at_end = false;  // nothing is left of the partitions asked for
};

// To the best owner of its key, once: serve it as its coordinator.
struct ForwardedRequest {
  RequestNumber request = 0;
  ClientRequest body;  // its timeout is not sent: the deadline is
  Time deadline;
};

struct ForwardedReply {
  RequestNumber request = 0;
  ClientReply reply;
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
  uint64_t ticket = 0;
  ScanStep step;
  Time deadline;
};
struct SliceRead {
  uint64_t ticket = 0;
  Status status;
  ScanSlice slice;
};

// To the door that the request came through.
struct ClientAnswer {
  Requester requester;
  ClientReply reply;
};

using Message = std::variant<StampPut, PutStamped, StampPutAck, ReplicaPut, ReplicaPutAck, ReplicaGet,
                             ReplicaGetReply, ReplicaScan, ReplicaScanReply, ForwardedRequest, ForwardedReply,
                             ReadRecord, ReadSlice, ClientAnswer>;
using MessageOutbox = Outbox<Message>;

}  // namespace ringkv
