// The JSON documents that kvctl prints; other programs read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringkv/admin.h"
#include "ringkv/store.h"
#include "tools/kvctl/cluster_reports.h"

namespace ringkv::tools {

// Which key a document is about, and how it names it: `key_b64` always, `key` when it is valid UTF-8.
struct NamedKey {
  std::string_view key;
  std::string_view bucket;
};

std::string to_json(const NamedKey& key, const GetResult& result);
std::string to_json(const NamedKey& key, bool exists);
std::string to_json(const NamedKey& key, const Explanation& explanation);
std::string to_json(const NamedKey& key, const LocalRecord& record);
std::string to_json(const PutReceipt& receipt);
std::string to_json(const ClusterStatus& status);
std::string to_json(const RingInfo& ring);
std::string to_json(const Statistics& statistics);
std::string to_json(const std::vector<BucketInfo>& buckets);

// Of all members (json_reports.cc).
std::string to_json(const HintsOfAll& hints);
std::string to_json(const LagOfAll& lag);
std::string to_json(const TransfersOfAll& transfers);
std::string to_json(const RepairOfAll& repair);
std::string to_json(const PurgeOfAll& purge);
std::string to_json(const ScrubOfAll& scrub);

std::string to_json(const PlanReport& report);
std::string to_json(const ForceReport& report);

std::string key_json(std::string_view key);
// The last object of a scan; null after the last key.
std::string cursor_json(std::string_view cursor);

// One line of a dump.
std::string entry_json(const ScanEntry& entry);

// "2024-05-01T12:00:00.000Z"
std::string utc_text(uint64_t unix_ms);

}  // namespace ringkv::tools
