// What a coordinator may begin: the rules by which a request is refused before anything is asked or written.
// Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/client_message.h"
#include "base/ring_description.h"
#include "replication/ring_view.h"
#include "ringkv/status.h"

namespace ringkv {

// What is under way already, and what there may be at most.
struct Load {
  size_t requests = 0;
  size_t requests_max = 0;
  size_t held_bytes = 0;  // of requests under way, and of what the store holds for its disk
  size_t held_bytes_max = 0;
};

// OVERLOADED when a request of `bytes` doesn't fit.
Status check_room(const Load& load, size_t bytes);

// What a put holds while it is under way.
size_t bytes_of(const ClientPut& put);

// The key's bucket, or why there can't be such a request.
Result<const BucketDescription*> check_target(const RingDescription& ring, std::string_view bucket,
                                              std::string_view key);
Result<const BucketDescription*> check_put(const RingDescription& ring, const ClientPut& put);

// How many of `owners` must answer: what the request asks for, or the bucket's default. `name` is "w" or "r".
Result<uint32_t> quorum_for(std::string_view name, uint32_t asked, uint32_t bucket_default, size_t owners);

// Whom a put must reach, and how many of each list. INVALID_ARGUMENT when more are asked for than there are.
struct WriteTargets {
  Partition partition = 0;
  WriteLists lists;
  uint32_t needed = 0;
  uint32_t needed_next = 0;  // 0 where there is no next list
};
Result<WriteTargets> write_targets(const RingView& view, Partition partition, uint32_t asked,
                                   uint32_t bucket_default);

// UNAVAILABLE when fewer nodes can be reached than must acknowledge a put of the key: owners of a list, and
// with `stand_ins` so many others as owners are missing. Names those that can't be reached.
Status check_reachable(const RingView& view, std::string_view key, const WriteTargets& targets,
                       bool stand_ins);

}  // namespace ringkv
