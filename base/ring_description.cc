#include "base/ring_description.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <unordered_set>

#include "base/bytes.h"
#include "base/plan_step.h"
#include "base/text.h"

// One description has one encoding; the digest relies on it. (varint: LEB128; string: varint length, bytes.)
//
//   u8      format: 1; 2 with a change under way, a plan or nodes that wait; 3 with a member that is lost, or
//           some that were removed automatically
//   u64     lineage, from 1          u64 epoch, from 1          u64 cluster
//   u8      open, 0 or 1
//   string  hash name
//   u8      placer: 0 balanced, 1 hashed
//   varint  replicas, 1 to 1,000
//   varint  members, 1 to 1,000, in order of name; each
//             u64 node (not 0, no two alike), u64 disk, string name, string rack (may be empty),
//             f64 weight, u8 status, u8 voter: 0 no, 1 yes; format 3 also 2: no, it is lost
//   varint  partitions, a power of two up to 65,536; for each a varint: its owner's position
//   (formats 2 and 3)
//     u8      a change is under way, 0 or 1; then
//       u8      switched, 0 or 1          u64 commit id
//       varint  replicas
//       varint  members as above; partitions and their owners as above
//     u8      a plan is drafted, 0 or 1; then
//       varint  steps, up to 1,000; each as drawn in plan_step.cc
//       varint  replicas
//       varint  members as above; partitions and their owners as above
//     varint  nodes that wait, up to 1,000, as members above
//   (format 3)
//     varint  members removed automatically, up to 1,000
//   (format 1: varint 0)
//   varint  buckets, in order of name, the first is ""; each
//             string name, u8 conflict, varint read quorum, varint write quorum, varint ttl in ms
//   string  secret, 32 bytes
namespace ringkv {
namespace {

constexpr uint8_t kFormatAtRest = 1;
constexpr uint8_t kFormatInMotion = 2;
constexpr uint8_t kFormatWithLosses = 3;
constexpr uint8_t kLostVoter = 2;
constexpr size_t kNameBytesMax = 64;
constexpr size_t kSecretBytes = 32;
constexpr size_t kMemberBytesMin = 28;
constexpr size_t kBucketBytesMin = 5;

void write_owners(ByteWriter& out, const OwnerTable& owners) {
  out.varint(owners.size());
  for (const uint16_t owner : owners) out.varint(owner);
}

void write_member(ByteWriter& out, const Member& member) {
  out.u64(member.node.value);
  out.u64(member.disk.value);
  out.string(member.name);
  out.string(member.rack);
  out.f64(member.weight);
  out.u8(static_cast<uint8_t>(member.status));
  out.u8(member.lost ? kLostVoter : member.voter ? 1 : 0);
}

void write_members(ByteWriter& out, const std::vector<Member>& members) {
  out.varint(members.size());
  for (const Member& member : members) write_member(out, member);
}

void write_target(ByteWriter& out, const RingChange& change) {
  out.varint(change.replicas);
  write_members(out, change.members);
  write_owners(out, change.owners);
}

bool in_motion(const RingDescription& ring) { return ring.change || ring.plan || !ring.waiting.empty(); }

bool any_lost(const std::vector<Member>& members) {
  return std::any_of(members.begin(), members.end(), [](const Member& member) { return member.lost; });
}

uint8_t format_of(const RingDescription& ring) {
  const bool losses = ring.auto_removed > 0 || any_lost(ring.members) || any_lost(ring.waiting) ||
                      (ring.change && any_lost(ring.change->members)) ||
                      (ring.plan && any_lost(ring.plan->leads_to.members));
  if (losses) return kFormatWithLosses;
  return in_motion(ring) ? kFormatInMotion : kFormatAtRest;
}

void write_motion(ByteWriter& out, const RingDescription& ring) {
  out.u8(ring.change ? 1 : 0);
  if (ring.change) {
    out.u8(ring.change->switched ? 1 : 0);
    out.u64(ring.change->commit_id);
    write_target(out, *ring.change);
  }
  out.u8(ring.plan ? 1 : 0);
  if (ring.plan) {
    out.varint(ring.plan->steps.size());
    for (const PlanStep& step : ring.plan->steps) write_plan_step(out, step);
    write_target(out, ring.plan->leads_to);
  }
  write_members(out, ring.waiting);
}

void write_bucket(ByteWriter& out, const BucketDescription& bucket) {
  out.string(bucket.name);
  out.u8(static_cast<uint8_t>(bucket.conflict));
  out.varint(bucket.read_quorum);
  out.varint(bucket.write_quorum);
  out.varint(bucket.ttl_ms);
}

// Past `max` the reader fails, so that the caller needs no check of its own.
uint64_t at_most(ByteReader& in, uint64_t value, uint64_t max) {
  if (value > max) in.fail();
  return value > max ? 0 : value;
}

bool read_flag(ByteReader& in) { return at_most(in, in.u8(), 1) == 1; }

template <class Enum>
Enum read_enum(ByteReader& in, Enum last) {
  return static_cast<Enum>(at_most(in, in.u8(), static_cast<uint8_t>(last)));
}

OwnerTable read_owners(ByteReader& in, size_t members) {
  OwnerTable owners(at_most(in, in.count(1), kPartitionsMax));
  for (uint16_t& owner : owners) owner = static_cast<uint16_t>(at_most(in, in.varint(), members - 1));
  return owners;
}

Member read_member(ByteReader& in) {
  Member member;
  member.node = {in.u64()};
  member.disk = {in.u64()};
  member.name = in.string(kNameBytesMax);
  member.rack = in.string(kNameBytesMax);
  member.weight = in.f64();
  member.status = read_enum(in, MemberStatus::kLeaving);
  const uint64_t vote = at_most(in, in.u8(), kLostVoter);
  member.voter = vote == 1;
  member.lost = vote == kLostVoter;
  return member;
}

std::vector<Member> read_any_members(ByteReader& in) {
  std::vector<Member> members(at_most(in, in.count(kMemberBytesMin), kMembersMax));
  for (Member& member : members) member = read_member(in);
  return members;
}

std::vector<Member> read_members(ByteReader& in) {
  std::vector<Member> members = read_any_members(in);
  if (members.empty()) in.fail();
  return members;
}

uint32_t read_replicas(ByteReader& in) {
  return static_cast<uint32_t>(at_most(in, in.varint(), kMembersMax));
}

void read_target(ByteReader& in, RingChange& change) {
  change.replicas = read_replicas(in);
  change.members = read_members(in);
  change.owners = read_owners(in, change.members.size());
}

void read_motion(ByteReader& in, RingDescription& ring) {
  if (read_flag(in)) {
    RingChange& change = ring.change.emplace();
    change.switched = read_flag(in);
    change.commit_id = in.u64();
    read_target(in, change);
  }
  if (read_flag(in)) {
    RingPlan& plan = ring.plan.emplace();
    plan.steps.resize(at_most(in, in.count(kPlanStepBytesMin), kPlanStepsMax));
    for (PlanStep& step : plan.steps) step = read_plan_step(in);
    read_target(in, plan.leads_to);
  }
  ring.waiting = read_any_members(in);
}

BucketDescription read_bucket(ByteReader& in) {
  BucketDescription bucket;
  bucket.name = in.string(kNameBytesMax);
  bucket.conflict = read_enum(in, BucketConflict::kLastWriterWins);
  bucket.read_quorum = static_cast<uint32_t>(at_most(in, in.varint(), kMembersMax));
  bucket.write_quorum = static_cast<uint32_t>(at_most(in, in.varint(), kMembersMax));
  bucket.ttl_ms = in.varint();
  return bucket;
}

// Reads to the first field that can't be true; then the reader has failed.
RingDescription read_fields(ByteReader& in, uint8_t format) {
  RingDescription ring;
  ring.lineage = in.u64();
  ring.epoch = in.u64();
  ring.cluster = {in.u64()};
  ring.open = read_flag(in);
  ring.hash_name = in.string(kNameBytesMax);
  ring.placer = read_enum(in, PlacerKind::kHashed);
  ring.replicas = read_replicas(in);
  ring.members = read_members(in);
  ring.owners = read_owners(in, ring.members.size());
  if (format == kFormatAtRest) {
    at_most(in, in.varint(), 0);
  } else {
    read_motion(in, ring);
  }
  if (format == kFormatWithLosses)
    ring.auto_removed = static_cast<uint32_t>(at_most(in, in.varint(), kMembersMax));
  ring.buckets.resize(in.count(kBucketBytesMin));
  for (BucketDescription& bucket : ring.buckets) bucket = read_bucket(in);
  ring.secret = in.string(kSecretBytes);
  return ring;
}

template <class Named>
bool in_order_of_name(const std::vector<Named>& all) {
  return std::adjacent_find(all.begin(), all.end(),
                            [](const Named& a, const Named& b) { return a.name >= b.name; }) == all.end();
}

// The member's fault in words, or nothing.
std::optional<std::string> fault_of(const Member& member) {
  if (Status named = check_name("node name", member.name); !named.ok()) return named.message();
  if (!member.rack.empty() && !check_name("rack", member.rack).ok())
    return "node " + member.name + " has a malformed rack";
  if (!(member.weight > 0 && member.weight <= 100))
    return "node " + member.name + " has a weight outside (0, 100]";
  if (!member.node) return "node " + member.name + " has no id";
  return std::nullopt;
}

std::optional<std::string> fault_of(const std::vector<Member>& members) {
  if (!in_order_of_name(members)) return "members aren't in order of name";
  std::unordered_set<NodeId> nodes;
  for (const Member& member : members) {
    if (auto fault = fault_of(member)) return fault;
    if (!nodes.insert(member.node).second) return "node " + member.name + " has another one's id";
  }
  return std::nullopt;
}

std::optional<std::string> fault_of(const std::vector<BucketDescription>& buckets) {
  if (buckets.empty() || !buckets.front().name.empty()) return "the default bucket is missing";
  if (!in_order_of_name(buckets)) return "buckets aren't in order of name";
  for (size_t i = 1; i < buckets.size(); ++i) {
    if (Status named = check_name("bucket", buckets[i].name); !named.ok()) return named.message();
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_waiting(const RingDescription& ring) {
  if (auto fault = fault_of(ring.waiting)) return fault;
  for (const Member& one : ring.waiting) {
    if (ring.find_member(one.name) != nullptr || ring.find_member(one.node) != nullptr)
      return "node " + one.name + " waits and is a member";
  }
  return std::nullopt;
}

bool is_same_directory(const Member* known, const Member& after) {
  return known != nullptr && known->node == after.node && known->disk == after.disk;
}

// What a change or a plan leads to. Of a plan's members some may wait yet.
std::optional<std::string> fault_of_target(const RingDescription& ring, const RingChange& change,
                                           bool planned) {
  if (change.owners.size() != ring.owners.size())
    return "the next owners are for another number of partitions";
  if (change.replicas == 0) return "no replicas after the change";
  if (auto fault = fault_of(change.members)) return fault;
  for (const Member& after : change.members) {
    if (is_same_directory(ring.find_member(after.name), after)) continue;
    if (!planned) return "node " + after.name + " isn't a member before the change";
    if (!is_same_directory(ring.find_waiting(after.name), after))
      return "node " + after.name + " of the plan neither is a member nor waits";
  }
  return std::nullopt;
}

std::optional<std::string> fault_of_motion(const RingDescription& ring) {
  if (auto fault = fault_of_waiting(ring)) return fault;
  if (ring.change) return ring.plan ? "a plan beside a change" : fault_of_target(ring, *ring.change, false);
  if (!ring.plan) return std::nullopt;
  if (ring.plan->steps.empty()) return "a plan without steps";
  return fault_of_target(ring, ring.plan->leads_to, true);
}

std::optional<std::string> fault_of(const RingDescription& ring) {
  if (ring.lineage == 0 || ring.epoch == 0) return "lineage and epoch count from 1";
  if (!check_name("hash", ring.hash_name).ok()) return "malformed hash name";
  if (ring.replicas == 0) return "no replicas";
  if (!std::has_single_bit(ring.owners.size())) return "partitions aren't a power of two";
  if (ring.secret.size() != kSecretBytes) return "the secret isn't 32 bytes";
  if (auto fault = fault_of(ring.members)) return fault;
  if (auto fault = fault_of_motion(ring)) return fault;
  return fault_of(ring.buckets);
}

template <class Named>
const Named* find_by_name(const std::vector<Named>& all, std::string_view name) {
  const auto found =
      std::lower_bound(all.begin(), all.end(), name,
                       [](const Named& one, std::string_view wanted) { return one.name < wanted; });
  return found != all.end() && found->name == name ? &*found : nullptr;
}

bool is_name_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

}  // namespace

const Member* RingDescription::find_member(std::string_view name) const {
  return find_by_name(members, name);
}

const Member* RingDescription::find_member(NodeId node) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [node](const Member& member) { return member.node == node; });
  return found == members.end() ? nullptr : &*found;
}

const Member* RingDescription::find_waiting(std::string_view name) const {
  return find_by_name(waiting, name);
}

const BucketDescription* RingDescription::find_bucket(std::string_view name) const {
  return find_by_name(buckets, name);
}

std::string encode_ring_description(const RingDescription& ring) {
  std::string bytes;
  ByteWriter out(bytes);
  const uint8_t format = format_of(ring);
  out.u8(format);
  out.u64(ring.lineage);
  out.u64(ring.epoch);
  out.u64(ring.cluster.value);
  out.u8(ring.open ? 1 : 0);
  out.string(ring.hash_name);
  out.u8(static_cast<uint8_t>(ring.placer));
  out.varint(ring.replicas);
  write_members(out, ring.members);
  write_owners(out, ring.owners);
  if (format == kFormatAtRest) {
    out.varint(0);
  } else {
    write_motion(out, ring);
  }
  if (format == kFormatWithLosses) out.varint(ring.auto_removed);
  out.varint(ring.buckets.size());
  for (const BucketDescription& bucket : ring.buckets) write_bucket(out, bucket);
  out.string(ring.secret);
  return bytes;
}

Result<RingDescription> decode_ring_description(std::string_view bytes) {
  ByteReader in(bytes);
  const uint8_t format = in.u8();
  if (in.ok() && (format < kFormatAtRest || format > kFormatWithLosses)) {
    return corruption(cat("ring description: format ", int{format}, ", this build reads ", int{kFormatAtRest},
                          " to ", int{kFormatWithLosses}));
  }
  RingDescription ring = read_fields(in, format);
  if (!in.finished()) return corruption(cat("ring description: malformed (", bytes.size(), " bytes)"));
  if (auto fault = fault_of(ring)) return corruption("ring description: " + *fault);
  // A varint can be written longer than need be: then two byte strings, and two digests, would be one ring.
  if (encode_ring_description(ring) != bytes) return corruption("ring description: not in its one encoding");
  return ring;
}

std::string ring_digest(std::string_view encoded) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digits;
  for (const uint8_t byte : sha1_of(encoded).sha1) digits += {kDigits[byte >> 4], kDigits[byte & 0xF]};
  return digits;
}

Status check_name(std::string_view what, std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax)
    return invalid_argument(cat(what, " ", display_key(name), ": must have 1 to 64 characters"));
  if (!std::all_of(name.begin(), name.end(), is_name_byte))
    return invalid_argument(cat(what, " ", display_key(name), ": only A-Z a-z 0-9 . _ - are allowed"));
  return {};
}

}  // namespace ringkv
