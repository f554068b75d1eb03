// The ring description: one immutable document per epoch, the same bytes on every node. Who the members are,
// who owns which partition, how many copies, which buckets. Agreement treats it as bytes; the digest names
// it.
//
// (The format is drawn in ring_description.cc.)
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/token.h"
#include "ringkv/plan.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr uint32_t kPartitionsDefault = 4096;
inline constexpr uint32_t kPartitionsMax = 65536;
inline constexpr uint32_t kMembersMax = 1000;
inline constexpr uint32_t kPlanStepsMax = 1000;
inline constexpr uint32_t kVirtualNodesDefault = 150;  // per unit of weight, for the hashed placer

enum class PlacerKind : uint8_t { kBalanced = 0, kHashed = 1 };
enum class MemberStatus : uint8_t { kNormal = 0, kJoining = 1, kLeaving = 2 };
enum class BucketConflict : uint8_t { kSiblings = 0, kLastWriterWins = 1 };

struct Member {
  NodeId node;
  DiskId disk;
  std::string name;
  std::string rack;
  double weight = 1;
  MemberStatus status = MemberStatus::kNormal;
  bool voter = true;
  bool lost = false;  // declared so by a forced ring: its disk doesn't come back, and it has no vote

  friend bool operator==(const Member&, const Member&) = default;
};

struct BucketDescription {
  std::string name;  // "" is the default bucket, which is always there
  BucketConflict conflict = BucketConflict::kSiblings;
  uint32_t read_quorum = 0;   // 0: quorum, half of the list rounded down plus one
  uint32_t write_quorum = 0;  // 0: quorum
  uint64_t ttl_ms = 0;        // 0: values don't expire by themselves

  friend bool operator==(const BucketDescription&, const BucketDescription&) = default;
};

// For each partition the position of its owner in `members` (which are in order of name).
using OwnerTable = std::vector<uint16_t>;

// A change under way: what it leads to, and how far it has come. Begun: puts reach the owners of both tables,
// gets ask those of the present one. Switched: the same puts, and gets ask those of the next one. The epoch
// that ends it makes what is here the present.
struct RingChange {
  std::vector<Member> members;  // all of them are members already; in order of name
  OwnerTable owners;            // by position in these
  uint32_t replicas = 0;
  bool switched = false;
  uint64_t commit_id = 0;  // drawn for the commit that began it: two commits of one plan are told apart

  friend bool operator==(const RingChange&, const RingChange&) = default;
};

// A change that is drafted: nothing acts on it before a commit names the epoch that it stands in.
struct RingPlan {
  std::vector<PlanStep> steps;  // what an operator asked for
  RingChange leads_to;          // all of that at once; its members are in the ring, or wait

  friend bool operator==(const RingPlan&, const RingPlan&) = default;
};

struct RingDescription {
  uint64_t lineage = 1;  // rises only by a forced ring; rings are ordered by (lineage, epoch)
  uint64_t epoch = 1;
  ClusterId cluster;
  bool open = false;  // false until the first put: joins are taken at once
  std::string hash_name = "sha1";
  PlacerKind placer = PlacerKind::kBalanced;
  uint32_t replicas = 3;
  std::vector<Member> members;  // in order of name
  OwnerTable owners;            // one entry a partition
  std::optional<RingChange> change;
  std::optional<RingPlan> plan;            // only without a change
  std::vector<Member> waiting;             // asked to join by plan and are no members; in order of name
  std::vector<BucketDescription> buckets;  // in order of name; the default bucket first
  std::string secret;                      // 32 random bytes: keys the records' hashes
  // Members that were removed by the others' word alone since an operator last changed who is in the ring.
  uint32_t auto_removed = 0;

  uint32_t partitions() const { return static_cast<uint32_t>(owners.size()); }
  const Member* find_member(std::string_view name) const;
  const Member* find_member(NodeId node) const;
  const Member* find_waiting(std::string_view name) const;
  const BucketDescription* find_bucket(std::string_view name) const;

  friend bool operator==(const RingDescription&, const RingDescription&) = default;
};

std::string encode_ring_description(const RingDescription& ring);

// Bytes from outside or from disk: CORRUPTION when malformed, or when it breaks a rule of this page (order,
// bounds, owners that aren't members, weights outside (0, 100]).
Result<RingDescription> decode_ring_description(std::string_view bytes);

// SHA-1 of the encoded description, 40 lower-case hex digits: equal on all nodes that hold the same ring.
std::string ring_digest(std::string_view encoded);

// 1–64 of [A-Za-z0-9._-]: names of nodes, racks and buckets. `what` begins the message: "node name".
Status check_name(std::string_view what, std::string_view name);

}  // namespace ringkv
