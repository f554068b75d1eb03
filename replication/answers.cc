#include "replication/answers.h"

#include <algorithm>

#include "base/text.h"
#include "storage/record_codec.h"
#include "storage/scan.h"

namespace ringkv {
namespace {

std::string_view name_of(Source source) {
  switch (source) {
    case Source::kPut:
      return "put";
    case Source::kReadRepair:
      return "read-repair";
    case Source::kHint:
      return "hint";
    case Source::kAntiEntropy:
      return "anti-entropy";
    case Source::kTransfer:
      return "transfer";
  }
  return "unknown";
}

std::string dot_text(const Dot& dot) {
  return cat(hex(dot.actor.node.value), "-", hex(dot.actor.boot.value), ":", dot.counter);
}

std::vector<VersionInfo> version_infos(const Record& record) {
  std::vector<VersionInfo> infos;
  for (const Version& version : record.versions) {
    VersionInfo& info = infos.emplace_back();
    info.value = version.value;
    info.dot = dot_text(version.dot);
    info.tombstone = version.kind == VersionKind::kTombstone;
    info.time_us = version.time;
    if (version.expires_at_ms != 0) info.expires_at_ms = version.expires_at_ms;
    info.source = name_of(version.source);
  }
  return infos;
}

Context context_of(const GetRequest& get) {
  return Context(encode_client_context(get.record().context, get.asked().place.token));
}

// What a get with R = `read_quorum` would answer from these replies, taken in preference order.
std::string would_answer(const GetRequest& get, size_t read_quorum, uint64_t now_ms) {
  Record merged;
  size_t answered = 0;
  for (const NodeId owner : get.asked().owners) {
    const auto reply = std::find_if(get.replies().begin(), get.replies().end(),
                                    [&](const ReplicaGetReply& r) { return r.replica == owner; });
    if (reply == get.replies().end()) continue;
    merged = answered == 0 ? reply->record : merge(merged, reply->record);
    if (++answered == read_quorum) break;
  }
  if (answered < read_quorum) return "unavailable";
  return merged.has_live_value(now_ms) ? "found" : "not found";
}

}  // namespace

GetResult get_result(const GetRequest& get, uint64_t now_ms) {
  GetResult result;
  result.values = live_values(get.record(), now_ms);
  result.context = context_of(get);
  return result;
}

LocalRecord local_record(const GetRequest& get, uint64_t now_ms) {
  return {get.record().has_live_value(now_ms), version_infos(get.record()), context_of(get)};
}

Explanation explanation(const GetRequest& get, const Ring& ring, uint64_t now_ms) {
  Explanation explanation;
  explanation.token = get.asked().place.token;
  explanation.partition = get.asked().place.partition;
  explanation.epoch = ring.epoch();
  for (const NodeId owner : get.asked().owners) {
    ReplicaInfo& replica = explanation.replicas.emplace_back();
    if (const Member* member = ring.description().find_member(owner)) {
      replica.node = member->name;
      replica.rack = member->rack;
    }
    for (const ReplicaGetReply& reply : get.replies()) {
      if (reply.replica != owner) continue;
      replica.alive = true;
      replica.versions = version_infos(reply.record);
    }
  }
  for (size_t r = 1; r <= get.asked().owners.size(); ++r) {
    explanation.would_answer.push_back(would_answer(get, r, now_ms));
  }
  return explanation;
}

std::optional<PutReceipt> receipt_in_record(const GetRequest& get) {
  for (const Version& version : get.record().versions) {
    if (version.operation != get.asked().operation) continue;
    PutReceipt receipt;
    if (get.record().versions.size() == 1) receipt.context = context_of(get);
    return receipt;
  }
  return std::nullopt;
}

}  // namespace ringkv
