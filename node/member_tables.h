// Members and the table of who owns what, which counts them by position: what every edit of a ring needs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/ring_description.h"

namespace ringkv {

Member* find_in(std::vector<Member>& members, std::string_view name);
const Member* find_in(const std::vector<Member>& members, std::string_view name);

void insert_in_order(std::vector<Member>& members, const Member& member);

// The same owners by name, after positions have changed with the members. All of them must still be there.
OwnerTable renumbered(const OwnerTable& owners, const std::vector<Member>& before,
                      const std::vector<Member>& after);

// "n1, n2, n3"; "none".
std::string names_of(const std::vector<Member>& members);

// INVALID_ARGUMENT that lists who is there.
Status no_such_member(const RingDescription& ring, std::string_view name);

// FORBIDDEN, naming both sides, when the name or the node belongs to somebody else, who is a member or waits.
Status check_joiner(const RingDescription& ring, const Member& joiner);

}  // namespace ringkv
