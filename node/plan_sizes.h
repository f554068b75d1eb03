// How much a plan moves: its outline, joined with what live owners say of the sizes of their partitions.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/client_message.h"

namespace ringkv {

std::set<std::string> members_to_count(const PlanOutline& outline);

class PlanSizes {
 public:
  void add(const std::string& member, const std::vector<PartitionSize>& sizes);

  // With moves and seconds: those that gain copies take them in side by side.
  PlanReport counted(PlanOutline outline) const;

 private:
  struct Size {
    uint64_t keys = 0;
    uint64_t bytes = 0;
  };
  Size of(const PlanOutline::Share& share) const;

  std::map<std::string, std::map<Partition, Size>> held_;
};

}  // namespace ringkv
