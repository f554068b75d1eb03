#include "node/ring_edits.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/limits.h"
#include "base/text.h"
#include "node/member_tables.h"
#include "node/ring_changes.h"
#include "replication/placer.h"

namespace ringkv {
namespace {

constexpr size_t kBucketsMax = 1000;

Status check_quorums(const RingDescription& ring, uint32_t r, uint32_t w) {
  const uint32_t replicas = ring.change ? std::min(ring.replicas, ring.change->replicas) : ring.replicas;
  for (const auto& [letter, quorum] : {std::pair{"r", r}, std::pair{"w", w}}) {
    if (quorum > replicas) {
      return invalid_argument(
          cat("--", letter, " ", quorum, " can't be reached: the ring keeps ", replicas, " copies of a key"));
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
  member->lost = false;
  for (RingChange* ahead :
       {ring.change ? &*ring.change : nullptr, ring.plan ? &ring.plan->leads_to : nullptr}) {
    Member* after = ahead == nullptr ? nullptr : find_in(ahead->members, name);
    if (after == nullptr) continue;
    after->disk = disk;
    after->lost = false;
    after->voter = after->voter && member->voter;
  }
  return ring;
}

OwnerTable placed(const RingDescription& ring, const std::vector<Member>& members) {
  if (ring.placer == PlacerKind::kHashed) return place_hashed(members, ring.partitions());
  return place_balanced(ring.members, ring.owners, members, ring.partitions(), ring.replicas);
}

Result<RingDescription> with_joiner(RingDescription ring, const Member& joiner) {
  if (const Member* same = ring.find_member(joiner.name);
      same != nullptr && same->node == joiner.node && same->disk == joiner.disk)
    return ring;
  if (ring.open) {
    return forbidden(cat("the ring has been open since its first put, so that ", joiner.name,
                         " can't just join: its copies must move"));
  }
  if (Status status = check_may_join(ring, joiner); !status.ok()) return status;
  std::erase_if(ring.waiting, [&](const Member& one) { return one.name == joiner.name; });
  std::vector<Member> members = ring.members;
  insert_in_order(members, joiner);
  ring.owners = placed(ring, members);
  ring.members = std::move(members);
  return ring;
}

}  // namespace

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
