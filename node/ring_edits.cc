#include "node/ring_edits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "replication/placer.h"

namespace ringkv {
namespace {

constexpr size_t kBucketsMax = 1000;

Status check_quorums(const RingDescription& ring, uint32_t r, uint32_t w) {
  for (const auto& [letter, quorum] : {std::pair{"r", r}, std::pair{"w", w}}) {
    if (quorum > ring.replicas) {
      return invalid_argument(cat("--", letter, " ", quorum, " can't be reached: the ring keeps ",
                                  ring.replicas, " copies of a key"));
    }
  }
  return {};
}

Result<RingDescription> with_new_bucket(RingDescription ring, const BucketInfo& bucket) {
  if (Status status = check_name("bucket name", bucket.name); !status.ok()) return status;
  if (ring.find_bucket(bucket.name) != nullptr) {
    return invalid_argument(cat("bucket ", display_key(bucket.name), " is there already"));
  }
  if (ring.buckets.size() >= kBucketsMax)
    return invalid_argument(cat("there are ", kBucketsMax, " buckets, the most there may be"));
  if (bucket.conflict != "siblings" && bucket.conflict != "lww") {
    return invalid_argument(cat("--conflict is siblings or lww, not ", display_key(bucket.conflict)));
  }
  if (Status status = check_quorums(ring, bucket.r, bucket.w); !status.ok()) return status;
  if (Status status = check_ttl(bucket.ttl_ms); !status.ok()) return status;
  const BucketDescription made{
      .name = bucket.name,
      .conflict = bucket.conflict == "lww" ? BucketConflict::kLastWriterWins : BucketConflict::kSiblings,
      .read_quorum = bucket.r,
      .write_quorum = bucket.w,
      .ttl_ms = bucket.ttl_ms};
  const auto behind = std::find_if(ring.buckets.begin(), ring.buckets.end(),
                                   [&](const BucketDescription& other) { return made.name < other.name; });
  ring.buckets.insert(behind, made);
  return ring;
}

Result<RingDescription> with_changed_bucket(RingDescription ring, std::string_view name,
                                            const Admin::BucketChange& change) {
  const auto bucket = std::find_if(ring.buckets.begin(), ring.buckets.end(),
                                   [&](const BucketDescription& other) { return other.name == name; });
  if (bucket == ring.buckets.end()) {
    return invalid_argument(
        cat("there is no bucket ", display_key(name), "; `kvctl bucket create` makes one"));
  }
  bucket->read_quorum = change.r.value_or(bucket->read_quorum);
  bucket->write_quorum = change.w.value_or(bucket->write_quorum);
  bucket->ttl_ms = change.ttl_ms.value_or(bucket->ttl_ms);
  if (Status status = check_quorums(ring, bucket->read_quorum, bucket->write_quorum); !status.ok())
    return status;
  if (Status status = check_ttl(bucket->ttl_ms); !status.ok()) return status;
  return ring;
}

Status check_joiner(const RingDescription& ring, const Member& joiner) {
  if (const Member* same = ring.find_member(joiner.name)) {
    return forbidden(cat("the name ", joiner.name, " belongs to node ", hex(same->node.value),
                         " already: node ", hex(joiner.node.value), " needs another one"));
  }
  if (const Member* same = ring.find_member(joiner.node)) {
    return forbidden(cat("node ", hex(joiner.node.value), " is the member ", same->name,
                         " already and can't join as ", joiner.name, " too"));
  }
  if (ring.members.size() >= kMembersMax)
    return forbidden(cat("the ring has ", kMembersMax, " members, the most there may be"));
  return {};
}

Member* find_in(std::vector<Member>& members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& one) { return one.name == name; });
  return found == members.end() ? nullptr : &*found;
}

Result<RingDescription> with_replaced_disk(RingDescription ring, std::string_view name, DiskId lost,
                                           DiskId disk) {
  const auto member = std::find_if(ring.members.begin(), ring.members.end(),
                                   [&](const Member& one) { return one.name == name; });
  if (member == ring.members.end()) return forbidden(cat("there is no member ", name, " any more"));
  if (member->disk == disk) return ring;
  if (member->disk != lost)
    return forbidden(cat("another directory has taken the place of member ", name, " meanwhile"));
  member->disk = disk;
  member->voter = !ring.open;
  if (Member* after = ring.change ? find_in(ring.change->members, name) : nullptr) {
    after->disk = disk;
    after->voter = after->voter && member->voter;
  }
  return ring;
}

// ---- Changes of an open ring

Status check_no_change(const RingDescription& ring) {
  if (!ring.change) return {};
  return unavailable(cat("another change of the ring is under way (epoch ", ring.epoch,
                         "): `kvctl plan show` says how far it has come"));
}

// One change at a time, and one that a leaver has left behind comes to its end first.
Status check_may_begin(const RingDescription& ring) {
  if (!ring.open) return forbidden("the ring has no data yet: members just join it");
  for (const Member& member : ring.members) {
    if (!ring.change && member.status == MemberStatus::kLeaving)
      return unavailable(cat(member.name, " is still leaving: the ring can be changed once it is gone"));
  }
  return check_no_change(ring);
}

void insert_in_order(std::vector<Member>& members, const Member& member) {
  const auto behind = std::find_if(members.begin(), members.end(),
                                   [&](const Member& other) { return member.name < other.name; });
  members.insert(behind, member);
}

OwnerTable placed(const RingDescription& ring, const std::vector<Member>& members) {
  if (ring.placer == PlacerKind::kHashed) return place_hashed(members, ring.partitions());
  return place_balanced(ring.members, ring.owners, members, ring.partitions(), ring.replicas);
}

// Positions change with the members.
OwnerTable renumbered(const OwnerTable& owners, const std::vector<Member>& before,
                      const std::vector<Member>& after) {
  std::vector<uint16_t> positions(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const auto at = std::find_if(after.begin(), after.end(),
                                 [&](const Member& member) { return member.name == before[i].name; });
    positions[i] = static_cast<uint16_t>(at - after.begin());
  }
  OwnerTable table;
  table.reserve(owners.size());
  for (const uint16_t owner : owners) table.push_back(positions[owner]);
  return table;
}

// Whoever joins is a member from now on, without partitions and without a vote until the end.
void add_joiner(RingDescription& ring, Member joiner) {
  const std::vector<Member> before = ring.members;
  joiner.status = MemberStatus::kJoining;
  joiner.voter = false;
  insert_in_order(ring.members, joiner);
  ring.owners = renumbered(ring.owners, before, ring.members);
}

Result<RingDescription> with_begun_join(RingDescription ring, Member joiner) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  joiner.voter = true;
  joiner.status = MemberStatus::kNormal;
  RingChange change{.members = ring.members, .owners = {}, .replicas = ring.replicas};
  insert_in_order(change.members, joiner);
  change.owners = placed(ring, change.members);
  add_joiner(ring, joiner);
  ring.change = std::move(change);
  return ring;
}

Result<RingDescription> with_joiner(RingDescription ring, const Member& joiner) {
  if (const Member* same = ring.find_member(joiner.name);
      same != nullptr && same->node == joiner.node && same->disk == joiner.disk)
    return ring;
  if (Status status = check_no_change(ring); !status.ok()) return status;
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  if (ring.open) {
    return forbidden(cat("the ring has been open since its first put, so that ", joiner.name,
                         " can't just join: members are added to a ring without data, before its first put"));
  }
  std::vector<Member> members = ring.members;
  insert_in_order(members, joiner);
  ring.owners = placed(ring, members);
  ring.members = std::move(members);
  return ring;
}

Result<RingDescription> with_begun_leave(RingDescription ring, std::string_view name) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  RingChange change{.members = ring.members, .owners = {}, .replicas = ring.replicas};
  Member* leaver = find_in(change.members, name);
  if (leaver == nullptr) return invalid_argument(cat("there is no member ", display_key(name)));
  leaver->status = MemberStatus::kLeaving;
  leaver->voter = false;
  change.owners = placed(ring, change.members);
  if (change.owners.empty()) return invalid_argument(cat(name, " is the last member that has partitions"));
  find_in(ring.members, name)->status = MemberStatus::kLeaving;
  ring.change = std::move(change);
  return ring;
}

Result<RingDescription> with_begun_replace(RingDescription ring, std::string_view old_name, Member joiner) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  if (Status status = check_joiner(ring, joiner); !status.ok()) return status;
  if (ring.find_member(old_name) == nullptr)
    return invalid_argument(cat("there is no member ", display_key(old_name)));
  joiner.voter = true;
  joiner.status = MemberStatus::kNormal;
  RingChange change{.members = ring.members, .owners = {}, .replicas = ring.replicas};
  insert_in_order(change.members, joiner);
  change.owners = renumbered(ring.owners, ring.members, change.members);
  const auto position_of = [&](std::string_view name) {
    return static_cast<uint16_t>(find_in(change.members, name) - change.members.data());
  };
  std::replace(change.owners.begin(), change.owners.end(), position_of(old_name), position_of(joiner.name));
  const std::vector<Member> both = change.members;
  std::erase_if(change.members, [&](const Member& member) { return member.name == old_name; });
  change.owners = renumbered(change.owners, both, change.members);
  add_joiner(ring, joiner);
  find_in(ring.members, old_name)->status = MemberStatus::kLeaving;
  ring.change = std::move(change);
  return ring;
}

Result<RingDescription> with_begun_weight(RingDescription ring, std::string_view name, double weight) {
  if (Status status = check_may_begin(ring); !status.ok()) return status;
  RingChange change{.members = ring.members, .owners = {}, .replicas = ring.replicas};
  Member* member = find_in(change.members, name);
  if (member == nullptr) return invalid_argument(cat("there is no member ", display_key(name)));
  if (!(weight > 0 && weight <= 100)) return invalid_argument("a weight is more than 0, and at most 100");
  member->weight = weight;
  change.owners = placed(ring, change.members);
  ring.change = std::move(change);
  return ring;
}

RingDescription with_change_ended(RingDescription ring) {
  RingChange change = std::move(*ring.change);
  ring.members = std::move(change.members);
  ring.owners = std::move(change.owners);
  ring.replicas = change.replicas;
  ring.change.reset();
  return ring;
}

RingDescription with_change_cancelled(RingDescription ring) {
  const std::vector<Member> before = ring.members;
  std::erase_if(ring.members, [](const Member& member) { return member.status == MemberStatus::kJoining; });
  ring.owners = renumbered(ring.owners, before, ring.members);
  for (Member& member : ring.members) member.status = MemberStatus::kNormal;
  ring.change.reset();
  return ring;
}

Result<RingDescription> with_removed(RingDescription ring, std::string_view name) {
  if (Status status = check_no_change(ring); !status.ok()) return status;
  const Member* member = ring.find_member(name);
  if (member == nullptr) return ring;
  if (member->status != MemberStatus::kLeaving)
    return forbidden(cat(name, " owns partitions: `kvctl plan leave ", name, "` moves them first"));
  const std::vector<Member> before = ring.members;
  std::erase_if(ring.members, [&](const Member& one) { return one.name == name; });
  ring.owners = renumbered(ring.owners, before, ring.members);
  return ring;
}

}  // namespace

RingEdit begun_leave(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) { return with_begun_leave(ring, name); };
}

RingEdit begun_join(const Member& joiner) {
  return [joiner](const RingDescription& ring) { return with_begun_join(ring, joiner); };
}

RingEdit begun_replace(std::string_view old_name, const Member& joiner) {
  return [old_name = std::string(old_name), joiner](const RingDescription& ring) {
    return with_begun_replace(ring, old_name, joiner);
  };
}

RingEdit begun_weight(std::string_view name, double weight) {
  return [name = std::string(name), weight](const RingDescription& ring) {
    return with_begun_weight(ring, name, weight);
  };
}

RingEdit switched(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    RingDescription next = ring;
    if (ring.epoch == epoch && next.change) next.change->switched = true;
    return next;
  };
}

RingEdit finished(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    if (ring.epoch != epoch || !ring.change || !ring.change->switched) return ring;
    return with_change_ended(ring);
  };
}

RingEdit cancelled(uint64_t epoch) {
  return [epoch](const RingDescription& ring) -> Result<RingDescription> {
    if (ring.epoch != epoch || !ring.change) return ring;
    if (ring.change->switched) return forbidden("the ring has been switched: the way back is another change");
    return with_change_cancelled(ring);
  };
}

RingEdit removed(std::string_view name) {
  return [name = std::string(name)](const RingDescription& ring) { return with_removed(ring, name); };
}

RingEdit new_bucket(const BucketInfo& bucket) {
  return [bucket](const RingDescription& ring) { return with_new_bucket(ring, bucket); };
}

RingEdit changed_bucket(std::string_view name, const Admin::BucketChange& change) {
  return [name = std::string(name), change](const RingDescription& ring) {
    return with_changed_bucket(ring, name, change);
  };
}

RingEdit opened() {
  return [](const RingDescription& ring) -> Result<RingDescription> {
    RingDescription next = ring;
    next.open = true;
    return next;
  };
}

RingEdit joined(const Member& joiner) {
  return [joiner](const RingDescription& ring) { return with_joiner(ring, joiner); };
}

RingEdit replaced_disk(std::string_view name, DiskId lost, DiskId disk) {
  return [name = std::string(name), lost, disk](const RingDescription& ring) {
    return with_replaced_disk(ring, name, lost, disk);
  };
}

}  // namespace ringkv
