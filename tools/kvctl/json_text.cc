#include "tools/kvctl/json_text.h"

#include <array>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>

#include "ringkv/text.h"
#include "ringkv/token.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::ordered_json;

bool is_utf8(std::string_view bytes) {
  try {
    (void)Json(bytes).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

Json key_document(std::string_view key) {
  Json json;
  json["key_b64"] = base64(key);
  if (is_utf8(key)) json["key"] = key;
  return json;
}

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json versions_json(const std::vector<VersionInfo>& versions) {
  Json list = Json::array();
  for (const VersionInfo& version : versions) {
    Json json = {{"value_b64", base64(version.value)},
                 {"dot", version.dot},
                 {"tombstone", version.tombstone},
                 {"time", utc_text(version.time_us / 1000)}};
    if (version.expires_at_ms) json["expires_at"] = utc_text(*version.expires_at_ms);
    json["source"] = version.source;
    list.push_back(std::move(json));
  }
  return list;
}

std::string_view kind_text(Acknowledgement::Kind kind) {
  switch (kind) {
    case Acknowledgement::Kind::kSynced:
      return "synced";
    case Acknowledgement::Kind::kBuffered:
      return "buffered";
    case Acknowledgement::Kind::kHint:
      return "hint";
  }
  return "";
}

// Counters are whole numbers, and read better so.
Json number(double value) {
  if (std::nearbyint(value) == value && std::fabs(value) < 9e15) return static_cast<int64_t>(value);
  return value;
}

}  // namespace

std::string to_json(const NamedKey& key, const GetResult& result) {
  Json json = key_document(key.key);
  json["token"] = hex(token_of_key(key.key, key.bucket));
  json["values"] = Json::array();
  for (const std::string& value : result.values) json["values"].push_back(base64(value));
  json["context"] = base64(result.context.bytes());
  json["epoch"] = result.epoch;
  if (result.unconfirmed) json["unconfirmed"] = true;
  return json.dump();
}

std::string to_json(const NamedKey& key, bool exists) {
  Json json = key_document(key.key);
  json["exists"] = exists;
  return json.dump();
}

std::string to_json(const NamedKey& key, const Explanation& explanation) {
  Json json = key_document(key.key);
  json["token"] = hex(explanation.token);
  json["partition"] = explanation.partition;
  json["epoch"] = explanation.epoch;
  json["replicas"] = Json::array();
  for (const ReplicaInfo& replica : explanation.replicas) {
    Json entry = {{"node", replica.node},
                  {"rack", replica.rack},
                  {"alive", replica.alive},
                  {"versions", versions_json(replica.versions)}};
    if (!replica.hint_for.empty()) entry["hint_for"] = replica.hint_for;
    if (!replica.whole) entry["whole"] = false;
    if (!replica.blocked_by.empty()) entry["blocked_by"] = replica.blocked_by;
    json["replicas"].push_back(std::move(entry));
  }
  json["would_answer"] = explanation.would_answer;
  return json.dump();
}

std::string to_json(const NamedKey& key, const LocalRecord& record) {
  Json json = key_document(key.key);
  json["found"] = record.found;
  json["versions"] = versions_json(record.versions);
  json["context"] = base64(record.context.bytes());
  return json.dump();
}

std::string to_json(const PutReceipt& receipt) {
  Json json = {
      {"epoch", receipt.epoch}, {"context", base64(receipt.context.bytes())}, {"acks", Json::array()}};
  for (const Acknowledgement& ack : receipt.acks) {
    Json entry = {{"node", ack.node}, {"durability", kind_text(ack.kind)}};
    if (!ack.hint_for.empty()) entry["hint_for"] = ack.hint_for;
    json["acks"].push_back(std::move(entry));
  }
  json["operation_id"] = receipt.operation_id;
  return json.dump();
}

std::string to_json(const ClusterStatus& status) {
  Json json = {{"epoch", status.epoch},
               {"lineage", status.lineage},
               {"change_under_way", status.change_under_way},
               {"voters", status.voters},
               {"members", Json::array()}};
  for (const MemberInfo& member : status.members) {
    json["members"].push_back({{"name", member.name},
                               {"state", member.state},
                               {"rack", member.rack},
                               {"weight", member.weight},
                               {"share", member.share},
                               {"keys", or_null(member.keys)},
                               {"bytes", or_null(member.bytes)},
                               {"hints", or_null(member.hints)},
                               {"hint_bytes", or_null(member.hint_bytes)},
                               {"lag_s", or_null(member.lag_seconds)},
                               {"skew_s", or_null(member.skew_seconds)},
                               {"incomplete_partitions", or_null(member.incomplete_partitions)},
                               {"takeover_partitions", or_null(member.takeover_partitions)},
                               {"takeover_ready", or_null(member.takeover_ready)},
                               {"handover_partitions", or_null(member.handover_partitions)},
                               {"epoch", or_null(member.epoch)},
                               {"peer", text_or_null(member.peer_address)},
                               {"client", text_or_null(member.client_address)}});
  }
  return json.dump();
}

std::string to_json(const RingInfo& ring) {
  Json json = {{"epoch", ring.epoch},           {"digest", ring.digest}, {"replicas", ring.replicas},
               {"partitions", ring.partitions}, {"placer", ring.placer}, {"members", Json::array()}};
  for (const MemberInfo& member : ring.members) {
    json["members"].push_back({{"name", member.name},
                               {"id", hex(member.id)},
                               {"rack", member.rack},
                               {"weight", member.weight},
                               {"status", member.status}});
  }
  json["lineage"] = ring.lineage;
  json["stage"] = ring.stage;
  json["steps"] = ring.steps;
  json["waiting"] = ring.waiting;
  if (!ring.owners.empty()) json["owners"] = ring.owners;
  return json.dump();
}

std::string to_json(const Statistics& statistics) {
  Json json = Json::object();
  for (const auto& [name, value] : statistics) json[name] = number(value);
  return json.dump();
}

std::string to_json(const std::vector<BucketInfo>& buckets) {
  Json json = Json::array();
  for (const BucketInfo& bucket : buckets) {
    json.push_back({{"name", bucket.name},
                    {"conflict", bucket.conflict},
                    {"r", bucket.r},
                    {"w", bucket.w},
                    {"ttl_ms", bucket.ttl_ms}});
  }
  return json.dump();
}

std::string key_json(std::string_view key) { return key_document(key).dump(); }

std::string cursor_json(std::string_view cursor) {
  Json json;
  json["after"] = cursor.empty() ? Json(nullptr) : Json(base64(cursor));
  return json.dump();
}

std::string entry_json(const ScanEntry& entry) {
  std::string line = R"({"key_b64":")" + base64(entry.key);
  if (entry.values.size() == 1) return line + R"(","value_b64":")" + base64(entry.values.front()) + "\"}";
  line += R"(","siblings_b64":[)";
  for (size_t i = 0; i < entry.values.size(); ++i)
    line += (i == 0 ? "\"" : ",\"") + base64(entry.values[i]) + "\"";
  return line + "]}";
}

std::string utc_text(uint64_t unix_ms) {
  const auto seconds = static_cast<std::time_t>(unix_ms / 1000);
  std::tm utc{};
  std::array<char, 64> text{};
  if (::gmtime_r(&seconds, &utc) == nullptr) return "";
  const size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text.data() + length, text.size() - length, ".%03uZ", static_cast<unsigned>(unix_ms % 1000));
  return text.data();
}

}  // namespace ringkv::tools
