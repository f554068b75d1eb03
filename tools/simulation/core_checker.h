// What must go on in the part of a ring that suffices, whatever stays broken around it (L1 to L3, L5, L6 of
// ARCHITECTURE.md): judged by what its members say of themselves, and by what clients are answered there.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/peer_state.h"
#include "replication/ring.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

// A member of the core, as it is now.
struct CoreMember {
  std::string name;
  NodeId node;
  bool serves = false;
  const Ring* ring = nullptr;
  std::set<Partition> incomplete;
  std::map<NodeId, uint64_t> hints;  // that it keeps, by whom they are for
  std::set<NodeId> reached;          // of all other members
  PeerState state;
};

// The first that isn't as it must become. L1: all serve, reach each other and hold one ring. L2: no hints are
// left for one of them. L3: each has all of a partition once N - w + 1 others of the core own it. L5: no
// change is under way, nobody is leaving, and who has all its copies votes.
//
// What waits for those outside by the rules: a leaver, until its hints for them are delivered or they are
// replaced; wholeness, where fewer others are left; a begun change, where fewer owners are whole than a
// gainer must have heard.
std::optional<Violation> what_core_lacks(const std::vector<CoreMember>& core);

// A quorum of each list of this key's is in the core, and whole: requests must succeed (L6).
bool is_served_by(const std::vector<CoreMember>& core, std::string_view bucket, std::string_view key);

// From operation `first` on they were asked of the core. L6: those that it serves succeed, and are confirmed.
// L3: all answers to one question are equal. L1: each calls all of the core up, in one epoch.
std::optional<Violation> check_core(const History& history, OperationIndex first,
                                    const std::vector<CoreMember>& core);

}  // namespace ringkv::simulation
