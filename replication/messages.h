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
#include "storage/hint_store.h"
#include "storage/place.h"
#include "storage/range_walk.h"
#include "storage/record.h"
#include "storage/record_hash.h"
#include "storage/scan.h"

namespace ringkv {

// The coordinator's number of a request under way; never reused, not by another life of its node either.
// Those of what converges in the background have the top bit, those of clients' requests don't.
using RequestNumber = uint64_t;
inline constexpr RequestNumber kBackground = RequestNumber{1} << 63;

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

// To an owner: merge this record into yours. The one way in which a copy changes, but for a stamp. The record
// may have no versions, only a context that covers what is superseded.
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
  // Of a round: its source's floor at that moment, which belongs to the record's context too. Never sent.
  std::shared_ptr<const Floor> floor;
};

struct ReplicaPutAck {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
  NodeId hint_for;  // not zero: `replica` keeps it as a hint for that node
};

// To a stand-in, or the own node: keep this record for an owner that can't take it now. Answered like a
// ReplicaPut, with `hint_for`. Refused where the budget or the disk is full: it isn't kept then.
struct HintPut {
  RequestNumber request = 0;  // 0: nobody counts the acknowledgement
  NodeId intended;
  Place place;  // never sent: computed by the node that it comes to
  std::string bucket;
  std::string key;
  SharedBytes record;  // encoded, its context filled
  Conflict conflict = Conflict::kSiblings;
  bool sync = true;
  Time deadline;
};

// To who may keep a hint: the intended node has acknowledged a record with this context after all. What it
// covers needn't be delivered.
struct HintCovered {
  // Why: never sent, other nodes' are of writes that the intended node has acknowledged to them.
  enum class Reason : uint8_t { kAcknowledged, kDelivered, kRedirected };

  NodeId intended;
  Place place;  // never sent
  std::string bucket;
  std::string key;
  CausalContext context;
  Reason reason = Reason::kAcknowledged;
};

struct ReplicaGet {
  RequestNumber request = 0;
  Place place;  // never sent: computed by the node that it comes to
  std::string bucket;
  std::string key;
  bool digest = false;   // no values
  bool inspect = false;  // for people, not for a quorum: a replica that isn't whole answers too
  // The floor belongs to the context of the answer: of what one owner has dropped and another still holds,
  // the floor alone knows. (Always of one moment: record and floor. Only asked for where digests differ.)
  bool with_floor = false;
  Time deadline;
};

struct ReplicaGetReply {
  RequestNumber request = 0;
  NodeId replica;
  Status status;
  bool digest = false;  // the record has its context and no versions; the hash stands for them
  Record record;        // committed, its context filled; without versions: nothing is there
  Hash128 hash;         // of the record's versions; zero: it has none
  // As asked: all that the floor covers and the record doesn't hold is superseded there.
  bool with_floor = false;
  VersionVector floor;
  std::vector<Actor> closed;  // in order
  // Of an inspection:
  struct HeldHint {
    NodeId intended;
    Record record;
  };
  std::vector<HeldHint> hints;  // that this node keeps of the key
  std::vector<Dot> blocked_by;  // of a tombstone that stays: what of its context the floor doesn't cover yet
  bool whole = true;
};

// Of so many partitions an answer carries floors: each names all lives that were ever met.
inline constexpr size_t kFlooredPartitionsMax = 8;

// To an owner of some partitions: the records of one walk that fall into them, in token order.
struct ReplicaScan {
  RequestNumber request = 0;
  std::string bucket;
  std::string prefix;
  std::string after;                  // storage key of the last record seen; empty: from the start
  std::vector<Partition> partitions;  // in order; records of others aren't wanted
  uint32_t records_max = 0;
  bool values = false;  // false: values may be left out of the records, as long as it can be told who lives
  bool with_floors = false;
  Time deadline;
};

struct ReplicaScanReply {
  struct Entry {
    std::string storage_key;
    SharedBytes record;  // encoded, its context filled
  };

  RequestNumber request = 0;
  struct PartitionFloor {
    Partition partition = 0;
    VersionVector floor;
  };

  NodeId replica;
  Status status;
  std::vector<Entry> entries;
  std::string last;     // storage key up to which it has looked
  bool at_end = false;  // nothing is left of the partitions asked for
  // As asked: what a partition's floor covers and a record there doesn't hold is superseded at this owner.
  std::vector<PartitionFloor> floors;  // as of before the walk; in order
  std::vector<Actor> closed;           // in order
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
  Time deadline;    // not read when its turn comes later than this
  NodeId hint_for;  // not zero: no record, but the hint that is kept for that node
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

// ---- Rounds: one node pulls from another what it lacks of the partitions that both own, and then raises its
// floors ("Rounds and floors" in ARCHITECTURE.md). `round` is the puller's number of it.

enum class DigestLevel : uint8_t {
  kPair = 0,        // one digest of all partitions that both own, in one epoch
  kGroups = 1,      // one of each 64 neighbouring partitions, those of them that both own
  kPartitions = 2,  // one of each partition
};
inline constexpr uint32_t kPartitionsPerGroup = 64;

// Puller to source.
struct RoundCompare {
  RequestNumber round = 0;
  DigestLevel level = DigestLevel::kPair;
  std::vector<uint32_t> ids;  // groups or partitions, in order; none at kPair
};

// Source to puller; digests and lives of one moment, uncommitted writes included. Where digests are equal,
// the puller holds all that the source has stamped up to `lives`.
struct RoundDigests {
  RequestNumber round = 0;
  NodeId source;
  Status status;
  DigestLevel level = DigestLevel::kPair;
  std::vector<uint32_t> ids;          // as asked; those that the source doesn't own are left out
  std::vector<Hash128> digests;       // one of each; at kPair one
  Floor lives;                        // the source's own: this one at its present counter, earlier ones
  uint64_t epoch = 0;                 // by which it knows what both own
  std::vector<Partition> incomplete;  // of what both own, what the source isn't whole for; in order
};

struct RoundOpen {
  RequestNumber round = 0;
  Partition partition = 0;
  Hash128 hash;          // of all that the puller holds of it
  bool limited = false;  // it claims nothing of closed lives there (storage/floor_table.h): name them anyway
};

// Of one moment, uncommitted writes included.
struct RoundLeaves {
  struct LeafDigest {
    uint8_t leaf = 0;
    Leaf value;
  };

  RequestNumber round = 0;
  NodeId source;
  Status status;
  Partition partition = 0;
  Floor floor;  // of the source, its own lives included
  CausalContext erased;
  std::vector<Actor> closed;       // its closed lives; where it isn't equal
  bool equal = false;              // to what the puller held when it asked: then without leaves
  std::vector<LeafDigest> leaves;  // those that aren't empty, in order
  bool whole = true;               // the source, there
};

// A former owner to a present one: these partitions lie here still, and go when all their owners have pulled
// them. And back: that has been done, and is on disk.
struct RangesOffered {
  uint64_t epoch = 0;                 // of the former owner; comes back with the answer
  std::vector<Partition> partitions;  // in order
};
struct RangesTaken {
  uint64_t epoch = 0;
  std::vector<Partition> partitions;  // in order; those that failed aren't named
};

// To the own disk: what was erased of the records in [lower, upper) is given back. Without an answer.
struct ReclaimDisk {
  std::string lower;
  std::string upper;
};

// The keys and versions of some leaves, or of some keys; or what the puller lacks of some leaves, told by
// their hashes at the puller (RangeStep::leaves_elsewhere).
struct RoundWalk {
  RequestNumber round = 0;
  Partition partition = 0;
  LeafSet leaves;
  std::string after;                      // storage key; empty: from the start
  std::vector<std::string> storage_keys;  // not empty: these, and no walk
  bool records = false;                   // whole records, not only their dots
  std::vector<LeafHash> lacking;          // not empty: in order; records, and neither leaves nor keys
};

struct RoundSlice {
  struct Entry {
    std::string storage_key;
    Hash128 hash;
    std::vector<Dot> dots;
    SharedBytes record;  // encoded, its context filled; nullptr: only dots were asked for, and there are some
  };

  RequestNumber round = 0;
  NodeId source;
  Status status;
  Partition partition = 0;
  Floor floor;  // of a moment before all that is listed was read; closed lives as in RoundLeaves
  std::vector<Actor> closed;
  std::vector<Entry> entries;
  std::string last;
  bool at_end = false;
  std::vector<LeafAnswer> answered;  // of `lacking`, as they are at the source
};

// To the own disk; each comes back as its answer.
struct ReadRange {
  uint64_t ticket = 0;
  RangeStep step;
};
struct RangeRead {
  uint64_t ticket = 0;
  Status status;
  RangeSlice slice;
};
struct ReadHint {
  uint64_t ticket = 0;
  NodeId intended;
  std::string storage_key;
};
struct HintRead {
  uint64_t ticket = 0;
  Status status;
  std::string record;  // "": there is none
};
struct ReadHints {
  uint64_t ticket = 0;
  HintStep step;
};
struct HintsRead {
  uint64_t ticket = 0;
  Status status;
  HintSlice slice;
};
struct ReadTransient {
  uint64_t ticket = 0;
  TransientStep step;
};
struct TransientRead {
  uint64_t ticket = 0;
  Status status;
  TransientSlice slice;
};

// To the own replica: let the record go, if that is still right when its turn at the key's latch comes.
struct EraseRecord {
  Place place;
  std::string storage_key;
};

// To the door that the request came through.
struct ClientAnswer {
  Requester requester;
  ClientReply reply;
};

using Message =
    std::variant<StampPut, PutStamped, StampPutAck, ReplicaPut, ReplicaPutAck, ReplicaGet, ReplicaGetReply,
                 ReplicaScan, ReplicaScanReply, ForwardedRequest, ForwardedReply, ReadRecord, ReadSlice,
                 ClientAnswer, HintPut, HintCovered, RoundCompare, RoundDigests, RoundOpen, RoundLeaves,
                 RoundWalk, RoundSlice, RangesOffered, RangesTaken, ReadRange, ReadHint, ReadHints,
                 ReadTransient, ReclaimDisk, EraseRecord>;
using MessageOutbox = Outbox<Message>;

}  // namespace ringkv
