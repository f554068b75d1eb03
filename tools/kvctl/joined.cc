#include "tools/kvctl/joined.h"

#include <algorithm>
#include <vector>

#include "tools/common/units.h"
#include "tools/kvctl/table.h"

namespace ringkv::tools {
namespace {

bool is_passing(const std::string& status) { return status == "joining" || status == "leaving"; }

// What a leaver keeps until others have it.
std::string held_by(const MemberInfo& member) {
  if (member.state == "down") return ", and can't be reached";
  std::string held;
  if (const uint64_t hints = member.hints.value_or(0); hints > 0) held = counted(hints, "hint");
  if (member.handover_partitions)
    held +=
        (held.empty() ? "" : " and ") + ("copies of " + counted(*member.handover_partitions, "partition"));
  return held.empty() ? "" : ": others have yet to take " + held + " from it";
}

std::string taken_over_by(const MemberInfo& member) {
  return "has taken over " + std::to_string(member.takeover_ready.value_or(0)) + " of " +
         counted(member.takeover_partitions.value_or(0), "partition");
}

std::optional<std::string> passing(const MemberInfo& member) {
  const std::string& how = is_passing(member.state) ? member.state : member.status;
  if (!is_passing(how)) return std::nullopt;
  if (how == "leaving") return member.name + " is leaving" + held_by(member);
  return member.name + " is joining" + (member.takeover_partitions ? ", and " + taken_over_by(member) : "");
}

std::string change(const ClusterStatus& status) {
  std::string text = "a change of the ring is under way in epoch " + std::to_string(status.epoch);
  for (const MemberInfo& member : status.members) {
    if (member.takeover_partitions && *member.takeover_partitions != member.takeover_ready.value_or(0))
      return text + "; " + member.name + " " + taken_over_by(member);
  }
  return text;
}

std::optional<std::string> missing_majority(const ClusterStatus& status) {
  std::vector<std::string> without;
  for (const MemberInfo& member : status.members) {
    if (!member.epoch || *member.epoch < status.epoch) without.push_back(member.name);
  }
  const size_t members = status.members.size();
  if (without.size() * 2 < members) return std::nullopt;
  return "epoch " + std::to_string(status.epoch) + " is known to only " +
         std::to_string(members - without.size()) + " of " + counted(members, "member") +
         "; missing: " + listed(without);
}

}  // namespace

std::optional<std::string> missing_for_joined(const ClusterStatus& status) {
  for (const MemberInfo& member : status.members) {
    if (std::optional<std::string> why = passing(member)) return why;
    if (member.epoch && *member.epoch > status.epoch)
      return "the node asked is at epoch " + std::to_string(status.epoch) + ", " + member.name +
             " at epoch " + std::to_string(*member.epoch);
  }
  if (status.change_under_way) return change(status);
  return missing_majority(status);
}

}  // namespace ringkv::tools
