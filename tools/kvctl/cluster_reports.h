// What all members have answered, as one report of the cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ringkv/admin.h"
#include "tools/kvctl/asked.h"

namespace ringkv::tools {

// In each of them `unknown` names the members that gave no answer: nothing is said of those.

struct HintsOfAll {
  uint64_t hints = 0;
  uint64_t bytes = 0;
  std::vector<HintInfo> peers;
  std::vector<std::string> unknown;
};
HintsOfAll together(const Asked<std::vector<HintInfo>>& asked);

struct LagOfAll {
  struct Pair {
    LagInfo lag;
    std::optional<uint64_t> hint_bytes;  // that `from` keeps for `to`; nothing: it wasn't told
  };
  std::vector<Pair> pairs;
  std::vector<std::string> unknown;
};
LagOfAll together(const Asked<std::vector<LagInfo>>& lags, const Asked<std::vector<HintInfo>>& hints);

struct TransfersOfAll {
  std::vector<TransferReport> members;
  std::vector<std::string> unknown;
};
TransfersOfAll together(const Asked<TransferReport>& asked);

// Sums. Of a repair `partial` covers unknown members too; problems and reasons begin with the member's name.
struct RepairOfAll {
  RepairReport sum;
  std::vector<std::string> unknown;
};
RepairOfAll together(const Asked<RepairReport>& asked);

struct PurgeOfAll {
  PurgeReport sum;
  std::vector<std::string> unknown;
};
PurgeOfAll together(const Asked<PurgeReport>& asked);

struct ScrubOfAll {
  ScrubReport sum;
  std::vector<std::string> unknown;
};
ScrubOfAll together(const Asked<ScrubReport>& asked);

// "n3: timed out after 5 s"; the name once, where the reason begins with it.
std::string reason_of(const Unanswered& unanswered);

}  // namespace ringkv::tools
