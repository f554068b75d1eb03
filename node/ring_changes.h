// Edits that change who owns what in an open ring ("Data moves in three epochs" in ARCHITECTURE.md): each is
// begun, switched and finished by an epoch of its own. As all edits (ring_edits.h) they are pure, and one
// that finds its change made already returns the ring as it is.
//
// Refused while another one is under way or drafted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "node/ring_edits.h"

namespace ringkv {

// A member more, to which copies move.
RingEdit begun_join(const Member& joiner);
// A member's copies move to the others. It stays a member, without partitions, until it is removed.
RingEdit begun_leave(std::string_view name);
// A new member takes the place of one that is gone for good, which is no member any more at the end.
RingEdit begun_replace(std::string_view old_name, const Member& joiner);
RingEdit begun_weight(std::string_view name, double weight);
// As a leave that nobody has asked for, of all members that are gone: on any other ring than that of `epoch`
// it changes nothing. FORBIDDEN where an operator must decide: some are declared lost, fewer than N members
// or no voter would be left, or at least half of those that there were since he last did would be gone like
// that.
RingEdit begun_auto_removal(uint64_t epoch, std::vector<std::string> names);
Status check_auto_removal(const RingDescription& ring, const std::vector<std::string>& names);

// The steps of the change that `epoch` has: on any other ring they change nothing.
RingEdit switched(uint64_t epoch);
RingEdit finished(uint64_t epoch);
// Back to the present table, while it hasn't been switched.
RingEdit cancelled(uint64_t epoch);

// A member that is leaving and has no partition any more; its vote goes with it.
RingEdit removed(std::string_view name);
// The same of one that hasn't answered for too long: the description counts it.
RingEdit removed_unheard(std::string_view name);
// A member without a vote gets one: a joiner, or an empty directory that took a member's place, once it has
// its copies.
RingEdit voting(std::string_view name);

// ---- For edits

// UNAVAILABLE: another change is under way, or comes to its end, or is drafted.
Status check_no_change(const RingDescription& ring);
Status check_no_leaver(const RingDescription& ring);
Status check_no_plan(const RingDescription& ring);

// Whether the ring takes a member now, without placing anything: for who asks often.
Status check_may_join(const RingDescription& ring, const Member& joiner);

// The ring with this change begun, whose members are in it or wait. Where there are no data yet it is made at
// once.
RingDescription with_begun(RingDescription ring, RingChange change);

}  // namespace ringkv
