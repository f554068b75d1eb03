// The ring that follows from a ring and one change. Pure; an edit that finds its change made already returns
// the ring as it is, so that it can be tried again on a ring that came first. (What changes who owns what in
// a ring with data: ring_changes.h; what an operator plans: ring_plans.h.)
#pragma once

#include <functional>
#include <string_view>

#include "base/ring_description.h"
#include "ringkv/admin.h"

namespace ringkv {

using RingEdit = std::function<Result<RingDescription>(const RingDescription&)>;

// INVALID_ARGUMENT says what is wrong with the bucket.
RingEdit new_bucket(const BucketInfo& bucket);
RingEdit changed_bucket(std::string_view name, const Admin::BucketChange& change);

// From now on there are data: joining is no longer done by this alone.
RingEdit opened();

// A member more, its vote and its share of the partitions with it. Only while the ring isn't open; refused,
// naming both sides, when the name or the node belongs to somebody else.
RingEdit joined(const Member& joiner);

// An empty directory takes the place of a member's lost one. Where there are data it has no vote until it has
// got its copies.
RingEdit replaced_disk(std::string_view name, DiskId lost, DiskId disk);

}  // namespace ringkv
