// The JSON documents that kvctl prints; other programs read them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringkv/admin.h"
#include "ringkv/store.h"

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

// Of all members; `unknown`: those that gave no answer, and why (json_reports.cc).
std::string hints_json(const std::vector<HintInfo>& peers, const std::vector<std::string>& unknown);
std::string lag_json(const std::vector<LagInfo>& pairs, const std::vector<std::string>& unknown);
std::string repair_json(const RepairReport& report);
std::string purge_json(const PurgeReport& report);
std::string scrub_json(const ScrubReport& report);

std::string key_json(std::string_view key);
// The last object of a scan; null after the last key.
std::string cursor_json(std::string_view cursor);

// One line of a dump.
std::string entry_json(const ScanEntry& entry);

// "2024-05-01T12:00:00.000Z"
std::string utc_text(uint64_t unix_ms);

}  // namespace ringkv::tools
