// The ring that follows from a ring and one change. Pure; an edit that finds its change made already returns
// the ring as it is, so that it can be tried again on a ring that came first.
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

// ---- Changes of an open ring ("Data moves in three epochs" in ARCHITECTURE.md), each begun, switched and
// finished by an epoch of its own. Refused while another one is under way.

// A member more, to which copies move.
RingEdit begun_join(const Member& joiner);
// A member's copies move to the others. It stays a member, without partitions, until it is removed.
RingEdit begun_leave(std::string_view name);
// A new member takes the place of one that is gone for good, which is no member any more at the end.
RingEdit begun_replace(std::string_view old_name, const Member& joiner);
RingEdit begun_weight(std::string_view name, double weight);

// The steps of the change that `epoch` has: on any other ring they change nothing.
RingEdit switched(uint64_t epoch);
RingEdit finished(uint64_t epoch);
// Back to the present table, while it hasn't been switched.
RingEdit cancelled(uint64_t epoch);

// A member that is leaving and has no partition any more.
RingEdit removed(std::string_view name);

// An empty directory takes the place of a member's lost one. Where there are data it has no vote until it has
// got its copies.
RingEdit replaced_disk(std::string_view name, DiskId lost, DiskId disk);

}  // namespace ringkv
