// The same documents for a person at a terminal: tables, with bytes outside printable ASCII as \xHH.
#pragma once

#include <string>
#include <vector>

#include "ringkv/admin.h"
#include "tools/kvctl/cluster_reports.h"

namespace ringkv::tools {

std::string to_text(const Explanation& explanation);
std::string to_text(const LocalRecord& record);
std::string to_text(const ClusterStatus& status, bool verbose);
std::string to_text(const RingInfo& ring);
std::string to_text(const std::vector<BucketInfo>& buckets);

// plan_text.cc
std::string to_text(const PlanReport& report);
std::string to_text(const ForceReport& report);

// Of all members.
std::string to_text(const HintsOfAll& hints);
std::string to_text(const LagOfAll& lag);
std::string to_text(const TransfersOfAll& transfers);
std::string to_text(const RepairOfAll& repair, bool accept_loss);
std::string to_text(const PurgeOfAll& purge);
std::string to_text(const ScrubOfAll& scrub);

}  // namespace ringkv::tools
