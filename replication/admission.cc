#include "replication/admission.h"

#include <algorithm>

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

namespace {

// Of the owners that can't be reached: those on the present list, on the next one, on both; and how many more
// of each list must acknowledge.
struct Missing {
  std::vector<NodeId> nodes;
  size_t on_both = 0;
  size_t present = 0;
  size_t next = 0;
};

size_t lacking(const RingView& view, const std::vector<NodeId>& owners, uint32_t needed) {
  const auto reachable = static_cast<size_t>(
      std::count_if(owners.begin(), owners.end(), [&](NodeId owner) { return view.is_reachable(owner); }));
  return needed - std::min<size_t>(needed, reachable);
}

Missing missing_of(const RingView& view, const WriteTargets& targets) {
  const WriteLists& lists = targets.lists;
  Missing missing{.present = lacking(view, lists.present, targets.needed),
                  .next = lists.next.empty() ? 0 : lacking(view, lists.next, targets.needed_next)};
  for (const NodeId node : lists.all()) {
    if (view.is_reachable(node)) continue;
    missing.nodes.push_back(node);
    const auto is_on = [node](const std::vector<NodeId>& list) {
      return std::find(list.begin(), list.end(), node) != list.end();
    };
    if (is_on(lists.present) && is_on(lists.next)) ++missing.on_both;
  }
  return missing;
}

// A hint for an owner on both lists counts in both.
size_t hints_needed(const Missing& missing) {
  const size_t for_both = std::min(missing.on_both, std::max(missing.present, missing.next));
  return for_both + missing.present - std::min(missing.present, for_both) + missing.next -
         std::min(missing.next, for_both);
}

}  // namespace

Status check_reachable(const RingView& view, std::string_view key, const WriteTargets& targets,
                       bool stand_ins) {
  Missing missing = missing_of(view, targets);
  if (missing.present == 0 && missing.next == 0) return {};
  const std::vector<NodeId> others = stand_ins ? view.stand_ins(targets.partition) : std::vector<NodeId>();
  size_t reachable = 0;
  for (const NodeId node : others) {
    if (view.is_reachable(node)) {
      ++reachable;
    } else {
      missing.nodes.push_back(node);
    }
  }
  if (hints_needed(missing) <= reachable) return {};
  const bool of_next = missing.present == 0;
  return unavailable(
      cat("key ", display_key(key), ": ", view.names_of(missing.nodes), " can't be reached, and a put needs ",
          of_next ? targets.needed_next : targets.needed, " of its owners ",
          view.names_of(of_next ? targets.lists.next : targets.lists.present),
          others.empty() ? "" : " or of the nodes that stand in for them", "; nothing was written"));
}

}  // namespace ringkv
