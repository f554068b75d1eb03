// What nodes may have lost. A power cut takes what was written and not yet synced; a sync makes all safe that
// stands before it in that node's log. With its disk a node loses everything, or what came after a copy of
// it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/simulation/history.h"

namespace ringkv::simulation {

class DiskLosses {
 public:
  explicit DiskLosses(const History& history);

  // Something that a node had in its log at some moment between two steps, seen by then (`known`).
  struct Written {
    Step since = 0;
    Step known = 0;
  };

  // Whether it may be lost there by `until`.
  bool may_have_lost(const std::string& node, const Written& written, Step until) const;
  // How many nodes may have lost it.
  uint32_t nodes_that_may_have_lost(const Written& written, Step until) const;
  // Whether it went with that node's disk by `until`. What other owners hold of it the node fetches again
  // before it counts for reads.
  bool lost_with_disk(const std::string& node, const Written& written, Step until) const;
  // The same, and by `when` the node hadn't noticed that it lacks something.
  bool lost_unnoticed(const std::string& node, const Written& written, Step when, Step until) const;
  // Of how many nodes, beside those that may have lost it by a power cut where `synced` is false.
  uint32_t disks_lost(const Written& written, bool synced, Step until) const;
  uint32_t disks_lost_unnoticed(const Written& written, Step when, Step until) const;
  // What had been lost by a moment, and noticed by another, as numbers: where they are the same for two pairs
  // of moments, so is every answer about what was written before.
  struct Situation {
    size_t cuts = 0;
    size_t disks_lost = 0;
    size_t noticed = 0;

    friend auto operator<=>(const Situation&, const Situation&) = default;
  };
  Situation situation(Step noticed_by, Step lost_by) const;

  bool any_disk_lost_between(Step after, Step before) const;
  bool any_disk_lost_between(const std::string& node, Step after, Step before) const;

  // Whether any node's power was cut between the two steps.
  bool any_cut_between(Step after, Step before) const;
  bool any_cut_between(const std::string& node, Step after, Step before) const;

 private:
  struct Node {
    std::vector<Step> cuts;
    std::multimap<Step, Step> syncs;  // that a put waited for: invoked, acknowledged
    std::vector<DiskLoss> disk_losses;
  };

  static bool may_have_lost(const Node& node, const Written& written, Step until);
  static bool lost_with_disk(const Node& node, const Written& written, Step until);
  static bool lost_unnoticed(const Node& node, const Written& written, Step when, Step until);
  static bool synced_between(const Node& node, Step after, Step before);

  std::map<std::string, Node> nodes_;
  // Of all nodes, in order.
  std::vector<Step> cuts_;
  std::vector<Step> disks_lost_;
  std::vector<Step> noticed_;
};

}  // namespace ringkv::simulation
