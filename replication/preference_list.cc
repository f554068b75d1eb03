#include "replication/preference_list.h"

#include "base/plants.h"
#include "replication/rack_rounds.h"

namespace ringkv {

std::vector<uint16_t> preference_lists(const OwnerTable& owners, const std::vector<Member>& members,
                                       uint32_t copies) {
  std::vector<std::string_view> racks;
  for (const Member& member : members)
    racks.push_back(planted(Plant::kIgnoreRack) ? member.name : member.rack);
  std::vector<bool> on_ring(members.size(), false);
  for (const uint16_t owner : owners) on_ring[owner] = true;

  RackRounds rounds({.rack_of = number_racks(racks), .on_ring = std::move(on_ring)}, copies);
  std::vector<uint16_t> lists;
  lists.reserve(owners.size() * rounds.list_size());
  for (size_t partition = 0; partition < owners.size(); ++partition) {
    const size_t steps =
        rounds.walk(partition, owners.size(), [&](size_t place) -> uint32_t { return owners[place]; });
    for (const uint32_t node : rounds.list()) lists.push_back(static_cast<uint16_t>(node));
    if (planted(Plant::kDoubleAtWrap) && partition + steps > owners.size())
      lists.back() = lists[lists.size() - rounds.list_size()];
  }
  return lists;
}

}  // namespace ringkv
