#include "node/ring_force.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "base/text.h"
#include "node/member_tables.h"
#include "node/plan_outline.h"
#include "node/ring_changes.h"
#include "replication/quorum.h"
#include "replication/ring.h"

namespace ringkv {
namespace {

// The lineage: how many times, seconds since 1970, drawn bits.
constexpr uint32_t kRandomBits = 16;
constexpr uint32_t kSecondsBits = 32;
constexpr WallMicros kMicrosPerSecond = 1'000'000;

uint64_t next_lineage(uint64_t lineage, WallMicros now, uint16_t random) {
  const uint64_t times = (lineage >> (kSecondsBits + kRandomBits)) + 1;
  const uint64_t seconds = now / kMicrosPerSecond & 0xFFFF'FFFF;
  return times << (kSecondsBits + kRandomBits) | seconds << kRandomBits | random;
}

bool is_named(const std::vector<std::string>& names, const Member& member) {
  return std::find(names.begin(), names.end(), member.name) != names.end();
}

std::vector<Member> those(const RingDescription& ring, const std::function<bool(const Member&)>& wanted) {
  std::vector<Member> members;
  std::copy_if(ring.members.begin(), ring.members.end(), std::back_inserter(members), wanted);
  return members;
}

std::string joined_names(const std::vector<Member>& members) {
  std::string names;
  for (const Member& member : members) names += (names.empty() ? "" : ",") + member.name;
  return names;
}

Status check_named(const RingDescription& ring, const std::vector<std::string>& lost,
                   const ForceSight& sight) {
  if (lost.empty()) return invalid_argument("which members are gone for good? --lost NAME[,NAME…]");
  for (const std::string& name : lost) {
    const Member* member = ring.find_member(name);
    if (member == nullptr) return no_such_member(ring, name);
    if (sight.is_reachable(member->node)) {
      return forbidden(cat(name, " is up, and can't be declared lost; `kvctl plan leave ", name,
                           "` has a member leave with its copies"));
    }
  }
  return {};
}

// Nobody else may reach it where this node doesn't.
Status check_known_down(const RingDescription& ring, const std::vector<std::string>& lost,
                        const ForceSight& sight) {
  for (const std::string& name : lost) {
    if (sight.health(ring.find_member(name)->node) != Health::kDown)
      return unavailable(cat(name, " doesn't answer, but isn't known to be down yet: try again in seconds"));
  }
  return {};
}

bool is_switched(const RingDescription& ring) { return ring.change && ring.change->switched; }

void mark_lost(std::vector<Member>& members, const std::vector<std::string>& lost) {
  for (Member& member : members) {
    if (!is_named(lost, member)) continue;
    member.lost = true;
    member.voter = false;
  }
}

void keep_leavers(std::vector<Member>& members) {
  for (Member& member : members) {
    if (member.status == MemberStatus::kLeaving && !member.lost) member.status = MemberStatus::kNormal;
  }
}

// But for one that is being replaced.
void keep_leavers(RingDescription& ring) {
  if (!ring.change) return keep_leavers(ring.members);
  keep_leavers(ring.change->members);
  for (Member& member : ring.members) {
    const Member* after = find_in(std::as_const(ring.change->members), member.name);
    if (member.status == MemberStatus::kLeaving && after != nullptr) member.status = after->status;
  }
}

// Somebody must decide: where all voters are lost, those that have their copies or are yet to get them.
void give_votes(RingDescription& ring) {
  const auto votes = [](const Member& member) { return member.voter; };
  if (std::any_of(ring.members.begin(), ring.members.end(), votes)) return;
  for (Member& member : ring.members) member.voter = !member.lost;
}

}  // namespace

Status check_force(const RingDescription& ring, const std::vector<std::string>& lost,
                   const ForceSight& sight) {
  if (Status status = check_named(ring, lost, sight); !status.ok()) return status;
  const std::vector<Member> voters = those(ring, [](const Member& member) { return member.voter; });
  const std::vector<Member> present =
      those(ring, [&](const Member& member) { return member.voter && sight.is_reachable(member.node); });
  if (2 * present.size() > voters.size()) {
    return forbidden(cat(names_of(present), " are a majority of the ", voters.size(),
                         " voters and can change the ring without force: `kvctl plan leave ", lost.front(),
                         " --force`, or `plan replace`, and `plan commit`"));
  }
  const std::vector<Member> silent = those(ring, [&](const Member& member) {
    return !member.lost && !sight.is_reachable(member.node) && !is_named(lost, member);
  });
  if (!silent.empty()) {
    const std::vector<Member> all =
        those(ring, [&](const Member& member) { return !member.lost && !sight.is_reachable(member.node); });
    return forbidden(cat(names_of(silent),
                         " can't be reached either: bring back, or declare lost too: --lost ",
                         joined_names(all)));
  }
  for (const Member& member : ring.members) {
    if (member.node != sight.self && sight.is_reachable(member.node) && sight.epoch(member.node) > ring.epoch)
      return unavailable(cat(member.name, " holds the ring of epoch ", sight.epoch(member.node),
                             ", this node ", "that of epoch ", ring.epoch, ": try again in a moment"));
  }
  const Member* self = ring.find_member(sight.self);
  if (self != nullptr && self->status == MemberStatus::kJoining && !is_switched(ring))
    return forbidden(cat(self->name, " is still joining, which force takes back: ask another member"));
  return check_known_down(ring, lost, sight);
}

ForceReport force_report(const RingDescription& ring, const std::vector<std::string>& lost) {
  ForceReport report;
  report.epoch = ring.epoch;
  report.partitions = ring.partitions();
  std::vector<bool> survives;
  for (const Member& member : ring.members) {
    // It came with the change that is taken back.
    const bool goes = member.status == MemberStatus::kJoining && !is_switched(ring);
    survives.push_back(!member.lost && !is_named(lost, member));
    if (goes && survives.back()) continue;
    (survives.back() ? report.survivors : report.lost).push_back(member.name);
  }
  const Ring table(ring);
  for (Partition partition = 0; partition < table.partitions(); ++partition) {
    const std::span<const uint16_t> owners = table.read_list(partition);
    const auto left = static_cast<uint32_t>(
        std::count_if(owners.begin(), owners.end(), [&](uint16_t position) { return survives[position]; }));
    const auto all = static_cast<uint32_t>(owners.size());
    if (left == 0) {
      report.without_copy.push_back(partition);
    } else if (left < all - smallest_write_quorum(ring, all) + 1) {
      ++report.fewer_than_needed;
    }
  }
  if (ring.plan || (ring.change && !ring.change->switched)) {
    for (const std::string& step : plan_steps(ring)) report.ends += (report.ends.empty() ? "" : ", ") + step;
  }
  return report;
}

RingDescription forced_ring(RingDescription ring, const std::vector<std::string>& lost, WallMicros now,
                            uint16_t random) {
  const uint64_t epoch = ring.epoch;
  ring.plan.reset();
  if (ring.change && !ring.change->switched) ring = *cancelled(epoch)(ring);
  mark_lost(ring.members, lost);
  if (ring.change) mark_lost(ring.change->members, lost);
  keep_leavers(ring);
  give_votes(ring);
  ring.lineage = next_lineage(ring.lineage, now, random);
  ring.epoch = epoch + 1;
  ring.auto_removed = 0;
  return ring;
}

}  // namespace ringkv
