// The same documents for a person at a terminal: tables, with bytes outside printable ASCII as \xHH.
#pragma once

#include <string>
#include <vector>

#include "ringkv/admin.h"

namespace ringkv::tools {

std::string to_text(const Explanation& explanation);
std::string to_text(const LocalRecord& record);
std::string to_text(const ClusterStatus& status, bool verbose);  // verbose: with addresses and epochs
std::string to_text(const RingInfo& ring);
std::string to_text(const std::vector<BucketInfo>& buckets);
std::string hints_text(const std::vector<HintInfo>& peers);
std::string lag_text(const std::vector<LagInfo>& pairs);
std::string repair_text(const RepairReport& report, bool accepted_loss);
std::string purge_text(const PurgeReport& report);
std::string scrub_text(const ScrubReport& report);

}  // namespace ringkv::tools
