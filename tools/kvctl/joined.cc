#include "tools/kvctl/joined.h"

#include <algorithm>
#include <vector>

#include "tools/common/units.h"
#include "tools/kvctl/table.h"

namespace ringkv::tools {
namespace {

bool is_passing(const std::string& status) { return status == "joining" || status == "leaving"; }

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
    for (const std::string& how : {member.state, member.status}) {
      if (is_passing(how)) return member.name + " is " + how;
    }
    if (member.epoch && *member.epoch > status.epoch)
      return "the node asked is at epoch " + std::to_string(status.epoch) + ", " + member.name +
             " at epoch " + std::to_string(*member.epoch);
  }
  if (status.change_under_way)
    return "a change of the ring is under way in epoch " + std::to_string(status.epoch);
  return missing_majority(status);
}

}  // namespace ringkv::tools
