#include "replication/admission.h"

#include <algorithm>
#include <optional>

#include "base/limits.h"
#include "base/text.h"
#include "replication/quorum.h"

namespace ringkv {

Status check_room(const Load& load, size_t bytes) {
  if (load.requests >= load.requests_max) {
    return overloaded(
        cat(load.requests, " requests are under way, the most this node takes: slow down and try again"));
  }
  if (load.held_bytes > 0 && load.held_bytes + bytes > load.held_bytes_max) {
    return overloaded(
        cat(human_bytes(load.held_bytes), " of requests wait for the disk: slow down and try again"));
  }
  return {};
}

size_t bytes_of(const ClientPut& put) {
  return put.key.size() + put.value.size() + (put.context ? put.context->size() : 0);
}

Result<const BucketDescription*> check_target(const RingDescription& ring, std::string_view bucket,
                                              std::string_view key) {
  if (Status status = check_key(key); !status.ok()) return status;
  const BucketDescription* found = ring.find_bucket(bucket);
  if (found == nullptr) {
    return invalid_argument(
        cat("there is no bucket ", display_key(bucket), "; `kvctl bucket create` makes one"));
  }
  return found;
}

Result<const BucketDescription*> check_put(const RingDescription& ring, const ClientPut& put) {
  Result<const BucketDescription*> bucket = check_target(ring, put.bucket, put.key);
  if (!bucket.ok()) return bucket;
  if (Status status = check_value(put.key, put.value.size()); !status.ok()) return status;
  if (Status status = check_ttl(put.ttl_ms.value_or(0)); !status.ok()) return status;
  return bucket;
}

Result<uint32_t> quorum_for(std::string_view name, uint32_t asked, uint32_t bucket_default, size_t owners) {
  if (asked > owners) {
    return invalid_argument(
        cat("--", name, " ", asked, " can't be reached: a key has ", owners, " owners in this ring"));
  }
  if (asked != 0) return asked;
  const auto copies = static_cast<uint32_t>(owners);
  return bucket_default == 0 ? majority_of(copies) : std::min(bucket_default, copies);
}

Result<WriteTargets> write_targets(const RingView& view, Partition partition, uint32_t asked,
                                   uint32_t bucket_default) {
  WriteTargets targets{.partition = partition, .lists = view.write_lists(partition)};
  const Result<uint32_t> needed = quorum_for("w", asked, bucket_default, targets.lists.present.size());
  if (!needed.ok()) return needed.status();
  targets.needed = *needed;
  if (targets.lists.next.empty()) return targets;
  const Result<uint32_t> needed_next = quorum_for("w", asked, bucket_default, targets.lists.next.size());
  if (!needed_next.ok()) return needed_next.status();
  targets.needed_next = *needed_next;
  return targets;
}

Status check_reachable(const RingView& view, std::string_view key, const WriteTargets& targets,
                       bool stand_ins) {
  std::optional<std::vector<NodeId>> others;
  const auto check_list = [&](const std::vector<NodeId>& owners, uint32_t needed) -> Status {
    std::vector<NodeId> missing;
    const auto count_reachable = [&](const std::vector<NodeId>& nodes) {
      size_t reachable = 0;
      for (const NodeId node : nodes) {
        if (view.is_reachable(node)) {
          ++reachable;
        } else {
          missing.push_back(node);
        }
      }
      return reachable;
    };
    const size_t reachable = count_reachable(owners);
    if (reachable >= needed) return {};
    if (!others) others = stand_ins ? view.stand_ins(targets.partition) : std::vector<NodeId>();
    if (reachable + std::min(owners.size() - reachable, count_reachable(*others)) >= needed) return {};
    return unavailable(
        cat("key ", display_key(key), ": ", view.names_of(missing), " can't be reached, and a put needs ",
            needed, " of its owners ", view.names_of(owners),
            others->empty() ? "" : " or of the nodes that stand in for them", "; nothing was written"));
  };
  if (Status status = check_list(targets.lists.present, targets.needed); !status.ok()) return status;
  return check_list(targets.lists.next, targets.needed_next);
}

}  // namespace ringkv
