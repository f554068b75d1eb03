#include "node/views.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr size_t kBucketsMax = 1000;

std::string_view name_of(MemberStatus status) {
  switch (status) {
    case MemberStatus::kNormal:
      return "normal";
    case MemberStatus::kJoining:
      return "joining";
    case MemberStatus::kLeaving:
      return "leaving";
  }
  return "unknown";
}

MemberInfo member_info(const Ring& ring, uint16_t position) {
  const Member& member = ring.member(position);
  MemberInfo info;
  info.name = member.name;
  info.id = member.node.value;
  info.rack = member.rack;
  info.weight = member.weight;
  info.status = name_of(member.status);
  info.state = member.status == MemberStatus::kNormal ? "up" : info.status;
  info.share = ring.share(position);
  return info;
}

Status check_quorums(const RingDescription& ring, uint32_t r, uint32_t w) {
  for (const auto& [letter, quorum] : {std::pair{"r", r}, std::pair{"w", w}}) {
    if (quorum > ring.replicas) {
      return invalid_argument(cat("--", letter, " ", quorum, " can't be reached: the ring keeps ",
                                  ring.replicas, " copies of a key"));
    }
  }
  return {};
}

}  // namespace

ClusterStatus cluster_status(const Life& life, NodeId self) {
  ClusterStatus status;
  status.epoch = life.ring().epoch();
  const std::vector<Member>& members = life.ring().description().members;
  for (size_t position = 0; position < members.size(); ++position) {
    MemberInfo& info = status.members.emplace_back(member_info(life.ring(), static_cast<uint16_t>(position)));
    if (members[position].node != self) continue;
    info.keys = life.store().leaves().keys();
    info.bytes = life.store().leaves().bytes();
  }
  return status;
}

RingInfo ring_info(const Ring& ring, bool owners) {
  const RingDescription& description = ring.description();
  RingInfo info;
  info.epoch = description.epoch;
  info.digest = ring.digest();
  info.replicas = description.replicas;
  info.partitions = description.partitions();
  info.placer = description.placer == PlacerKind::kHashed ? "hashed" : "balanced";
  for (size_t position = 0; position < description.members.size(); ++position) {
    info.members.push_back(member_info(ring, static_cast<uint16_t>(position)));
  }
  if (!owners) return info;
  for (const uint16_t owner : description.owners) info.owners.push_back(description.members[owner].name);
  return info;
}

std::vector<BucketInfo> bucket_infos(const RingDescription& ring) {
  std::vector<BucketInfo> infos;
  for (const BucketDescription& bucket : ring.buckets) {
    infos.push_back({.name = bucket.name,
                     .conflict = bucket.conflict == BucketConflict::kLastWriterWins ? "lww" : "siblings",
                     .r = bucket.read_quorum,
                     .w = bucket.write_quorum,
                     .ttl_ms = bucket.ttl_ms});
  }
  return infos;
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

}  // namespace ringkv
