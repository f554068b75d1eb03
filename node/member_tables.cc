#include "node/member_tables.h"

#include <algorithm>

#include "base/text.h"

namespace ringkv {
namespace {

template <class Members>
auto* find_by_name(Members& members, std::string_view name) {
  const auto found =
      std::find_if(members.begin(), members.end(), [&](const Member& one) { return one.name == name; });
  return found == members.end() ? nullptr : &*found;
}

}  // namespace

Member* find_in(std::vector<Member>& members, std::string_view name) { return find_by_name(members, name); }
const Member* find_in(const std::vector<Member>& members, std::string_view name) {
  return find_by_name(members, name);
}

void insert_in_order(std::vector<Member>& members, const Member& member) {
  const auto behind = std::find_if(members.begin(), members.end(),
                                   [&](const Member& other) { return member.name < other.name; });
  members.insert(behind, member);
}

OwnerTable renumbered(const OwnerTable& owners, const std::vector<Member>& before,
                      const std::vector<Member>& after) {
  std::vector<uint16_t> positions(before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const Member* member = find_in(after, before[i].name);
    positions[i] = static_cast<uint16_t>(member == nullptr ? after.size() : member - after.data());
  }
  OwnerTable table;
  table.reserve(owners.size());
  for (const uint16_t owner : owners) table.push_back(positions[owner]);
  return table;
}

std::string names_of(const std::vector<Member>& members) {
  std::string names;
  for (const Member& member : members) names += (names.empty() ? "" : ", ") + member.name;
  return names.empty() ? "none" : names;
}

Status no_such_member(const RingDescription& ring, std::string_view name) {
  return invalid_argument(
      cat("there is no member ", display_key(name), "; the members are ", names_of(ring.members)));
}

Status check_joiner(const RingDescription& ring, const Member& joiner) {
  if (const Member* same = ring.find_member(joiner.name)) {
    return forbidden(cat("the name ", joiner.name, " belongs to node ", hex(same->node.value),
                         " already: node ", hex(joiner.node.value), " needs another one"));
  }
  if (const Member* same = ring.find_member(joiner.node)) {
    return forbidden(cat("node ", hex(joiner.node.value), " is the member ", same->name,
                         " already and can't join as ", joiner.name, " too"));
  }
  if (const Member* same = ring.find_waiting(joiner.name); same != nullptr && same->node != joiner.node) {
    return forbidden(
        cat("node ", hex(same->node.value), " waits to join under the name ", joiner.name, ": node ",
            hex(joiner.node.value),
            " needs another one (`kvctl plan cancel` while nothing is planned forgets who waits)"));
  }
  if (ring.members.size() >= kMembersMax)
    return forbidden(cat("the ring has ", kMembersMax, " members, the most there may be"));
  return {};
}

}  // namespace ringkv
