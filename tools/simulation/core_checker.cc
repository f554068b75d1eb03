#include "tools/simulation/core_checker.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/text.h"

namespace ringkv::simulation {
namespace {

using List = std::span<const uint16_t>;

const CoreMember* find(const std::vector<CoreMember>& core, NodeId node) {
  const auto found = std::find_if(core.begin(), core.end(),
                                  [node](const CoreMember& member) { return member.node == node; });
  return found == core.end() ? nullptr : &*found;
}

std::optional<Violation> lacks_view(const std::vector<CoreMember>& core, const CoreMember& member) {
  if (member.ring->epoch() != core.front().ring->epoch())
    return Violation{"L1", cat(member.name, " and ", core.front().name, " are in different epochs")};
  for (const CoreMember& other : core) {
    if (&other == &member || member.reached.contains(other.node)) continue;
    if (member.ring->description().find_member(other.node) == nullptr) continue;
    return Violation{"L1", cat(member.name, " doesn't reach ", other.name)};
  }
  return std::nullopt;
}

// An owner takes N - w + 1 others of the core; who is to become one, whole ones, max(N - w + 1, r).
bool can_become_whole(const std::vector<CoreMember>& core, const CoreMember& member, Partition partition) {
  const List list = member.ring->read_list(partition);
  bool is_owner = false;
  uint32_t others = 0, whole = 0;
  for (const uint16_t position : list) {
    const NodeId node = member.ring->member(position).node;
    const CoreMember* other = find(core, node);
    is_owner = is_owner || node == member.node;
    if (node == member.node || other == nullptr) continue;
    ++others;
    whole += other->incomplete.contains(partition) ? 0 : 1;
  }
  const auto owners = static_cast<uint32_t>(list.size());
  return is_owner ? others >= confirming_of(owners) : whole >= quorum_of(owners);
}

std::optional<Violation> lacks_data(const std::vector<CoreMember>& core, const CoreMember& member) {
  for (const auto& [intended, hints] : member.hints) {
    const CoreMember* other = find(core, intended);
    if (other == nullptr || hints == 0) continue;
    return Violation{"L2", cat(member.name, " still has ", hints, " hints for ", other->name)};
  }
  for (const Partition partition : member.incomplete) {
    if (can_become_whole(core, member, partition))
      return Violation{"L3", cat(member.name, " still lacks partition ", partition)};
  }
  return std::nullopt;
}

// Of those that it keeps for members outside.
bool waits_for_outsiders(const std::vector<CoreMember>& core, const CoreMember& leaver) {
  return std::any_of(leaver.hints.begin(), leaver.hints.end(), [&](const auto& hints) {
    return hints.second > 0 && find(core, hints.first) == nullptr;
  });
}

// Of each partition that moves a quorum of the present owners is in the core, and whole: so many a gainer
// must have heard (max(N - w + 1, r)). Where they don't exist any more, their operator accepts a loss or
// takes the change back.
bool can_be_switched(const std::vector<CoreMember>& core) {
  const Ring& ring = *core.front().ring;
  for (Partition partition = 0; partition < ring.partitions(); ++partition) {
    const List present = ring.preference_list(partition);
    const List next = ring.next_preference_list(partition);
    if (std::is_permutation(present.begin(), present.end(), next.begin(), next.end())) continue;
    const auto whole = std::count_if(present.begin(), present.end(), [&](uint16_t position) {
      const CoreMember* owner = find(core, ring.member(position).node);
      return owner != nullptr && !owner->incomplete.contains(partition);
    });
    if (static_cast<uint32_t>(whole) < quorum_of(static_cast<uint32_t>(present.size()))) return false;
  }
  return true;
}

std::optional<Violation> lacks_end_of_change(const std::vector<CoreMember>& core) {
  const RingDescription& ring = core.front().ring->description();
  if (ring.change && !ring.change->switched && !can_be_switched(core)) return std::nullopt;
  if (ring.change) {
    std::string text = cat("a change of the ring doesn't end", ring.change->switched ? " (switched):" : ":");
    for (const CoreMember& member : core)
      text += cat(" ", member.name, " ready for ", member.state.ready_epoch, " in ", member.state.epoch,
                  " lacks ", member.incomplete.size());
    return Violation{"L5", text};
  }
  for (const Member& member : ring.members) {
    const CoreMember* known = find(core, member.node);
    if (member.status == MemberStatus::kLeaving && (known == nullptr || !waits_for_outsiders(core, *known)))
      return Violation{"L5", cat(member.name, " is leaving and doesn't come to an end")};
    if (known != nullptr && !member.voter && member.status == MemberStatus::kNormal &&
        known->incomplete.empty())
      return Violation{"L5", cat(member.name, " has all its copies and doesn't vote")};
  }
  return std::nullopt;
}

// What the core was asked, and what it said.
class AnswersOfCore {
 public:
  explicit AnswersOfCore(const std::vector<CoreMember>& core) : core_(core) {}

  void look(OperationIndex index, const Operation& operation) {
    const ClientRequest::Body& asked = operation.request.body;
    const Status& status = operation.reply.status;
    const auto* get = std::get_if<ClientGet>(&asked);
    const auto* put = std::get_if<ClientPut>(&asked);
    if (get != nullptr && !is_served_by(core_, get->bucket, get->key)) return;
    if (put != nullptr && !is_served_by(core_, put->bucket, put->key)) return;
    if (!status.ok()) return broken("L6", cat(name_of(index), ": ", status.to_string()));
    if (get != nullptr) {
      look_at(index, *get, std::get<GetResult>(operation.reply.body));
    } else if (const auto* told = std::get_if<ClusterStatus>(&operation.reply.body)) {
      look_at(index, *told);
    }
  }

  const std::optional<Violation>& violation() const { return violation_; }

 private:
  void broken(std::string_view invariant, const std::string& what) {
    if (!violation_) violation_ = Violation{std::string(invariant), what};
  }

  void look_at(OperationIndex index, const ClientGet& get, const GetResult& result) {
    if (result.unconfirmed) broken("L6", cat(name_of(index), " is unconfirmed"));
    const std::set<std::string> values(result.values.begin(), result.values.end());
    const auto [first, is_first] = answers_.try_emplace({get.bucket, get.key}, std::pair(index, values));
    if (!is_first && first->second.second != values)
      broken("L3", cat(name_of(first->second.first), " and ", name_of(index), " differ about key ", get.key));
  }

  void look_at(OperationIndex index, const ClusterStatus& told) {
    epochs_.emplace(told.epoch, index);
    if (epochs_.size() > 1)
      broken("L1", cat(name_of(epochs_.begin()->second), " and ", name_of(index), " tell different epochs"));
    for (const MemberInfo& member : told.members) {
      const bool is_of_core = std::any_of(core_.begin(), core_.end(),
                                          [&](const CoreMember& one) { return one.name == member.name; });
      if (is_of_core && member.state == "down")
        broken("L1", cat(name_of(index), " calls ", member.name, " ", member.state));
    }
  }

  const std::vector<CoreMember>& core_;
  std::map<std::pair<std::string, std::string>, std::pair<OperationIndex, std::set<std::string>>> answers_;
  std::map<uint64_t, OperationIndex> epochs_;
  std::optional<Violation> violation_;
};

}  // namespace

std::optional<Violation> what_core_lacks(const std::vector<CoreMember>& core) {
  for (const CoreMember& member : core) {
    if (!member.serves) return Violation{"L6", cat(member.name, " doesn't serve")};
  }
  for (const CoreMember& member : core) {
    if (auto violation = lacks_view(core, member)) return violation;
  }
  if (auto violation = lacks_end_of_change(core)) return violation;
  for (const CoreMember& member : core) {
    if (auto violation = lacks_data(core, member)) return violation;
  }
  return std::nullopt;
}

bool is_served_by(const std::vector<CoreMember>& core, std::string_view bucket, std::string_view key) {
  const Ring& ring = *core.front().ring;
  const Partition partition = ring.partition(digest_of(bucket, key));
  const auto has_quorum = [&](List list) {
    const auto whole = std::count_if(list.begin(), list.end(), [&](uint16_t position) {
      const CoreMember* owner = find(core, ring.member(position).node);
      return owner != nullptr && owner->serves && !owner->incomplete.contains(partition);
    });
    return static_cast<uint32_t>(whole) >= quorum_of(static_cast<uint32_t>(list.size()));
  };
  return has_quorum(ring.preference_list(partition)) && has_quorum(ring.next_preference_list(partition));
}

std::optional<Violation> check_core(const History& history, OperationIndex first,
                                    const std::vector<CoreMember>& core) {
  AnswersOfCore answers(core);
  for (OperationIndex index = first; index < history.operations().size(); ++index)
    answers.look(index, history.operations()[index]);
  return answers.violation();
}

}  // namespace ringkv::simulation
