#include "tools/kvctl/plain_text.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <optional>
#include <sstream>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/json_text.h"
#include "tools/kvctl/table.h"

namespace ringkv::tools {
namespace {

constexpr size_t kValueBytesShown = 64;
constexpr double kSkewSecondsMax = 5;  // what nodes tolerate of each other

std::string decimal(double value, int digits) {
  std::ostringstream out;
  const bool rounds_to_zero = std::fabs(value) * std::pow(10, digits) < 0.5;
  out << std::fixed << std::setprecision(digits) << (rounds_to_zero ? 0.0 : value);
  return out.str();
}

template <class T>
std::string or_dash(const std::optional<T>& value) {
  return value ? std::to_string(*value) : "-";
}

std::string text_or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string value_text(const VersionInfo& version) {
  if (version.tombstone) return "deleted";
  if (version.value.size() <= kValueBytesShown) return escaped(version.value);
  return escaped(std::string_view(version.value).substr(0, kValueBytesShown)) + "... (" +
         human_bytes(version.value.size()) + ")";
}

Row version_row(const VersionInfo& version) {
  return {"  " + version.dot, utc_text(version.time_us / 1000), version.source,
          version.expires_at_ms ? "expires " + utc_text(*version.expires_at_ms) : "", value_text(version)};
}

std::string versions_text(const std::vector<VersionInfo>& versions) {
  std::vector<Row> rows;
  for (const VersionInfo& version : versions) rows.push_back(version_row(version));
  return table(rows);
}

// The end of a line that sums up.
std::string not_asked(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "; no answer from " : ", ") + name;
  return text + '\n';
}

std::string replica_text(const ReplicaInfo& replica) {
  std::string text = replica.node + " (rack " + replica.rack + "): ";
  if (!replica.hint_for.empty()) {
    text += "keeps a hint for " + replica.hint_for;
  } else {
    text += !replica.alive ? "down" : replica.versions.empty() ? "holds nothing" : "holds";
  }
  if (!replica.whole) text += "; it has yet to refill this partition and doesn't count for reads";
  text += '\n' + versions_text(replica.versions);
  for (const std::string& why : replica.blocked_by) text += "  the tombstone stays: " + why + '\n';
  return text;
}

// What nobody should have to find in a table.
std::string warnings(const ClusterStatus& status) {
  std::string text;
  for (const MemberInfo& member : status.members) {
    if (member.takeover_partitions) {
      text += member.name + " takes over " + counted(*member.takeover_partitions, "partition") + ": " +
              std::to_string(member.takeover_ready.value_or(0)) + " done; see `kvctl transfers`\n";
    }
    if (member.incomplete_partitions.value_or(0) > 0) {
      text += member.name + " has " + counted(*member.incomplete_partitions, "partition") +
              " to refill, for which it doesn't count for reads\n";
    }
    if (std::fabs(member.skew_seconds.value_or(0)) > kSkewSecondsMax)
      text += member.name + "'s clock is " + decimal(*member.skew_seconds, 1) + "s off the asked node's\n";
  }
  if (status.voters == 2) text += "with two voters both must answer whenever the ring is to change\n";
  return text;
}

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string text = "token " + hex(explanation.token) + ", partition " +
                     std::to_string(explanation.partition) + ", epoch " + std::to_string(explanation.epoch) +
                     '\n';
  for (const ReplicaInfo& replica : explanation.replicas) text += replica_text(replica);
  for (size_t i = 0; i < explanation.would_answer.size(); ++i)
    text += "R = " + std::to_string(i + 1) + " would answer: " + explanation.would_answer[i] + '\n';
  return text;
}

std::string to_text(const LocalRecord& record) {
  return (record.found ? "found\n" : "not found\n") + versions_text(record.versions);
}

std::string to_text(const ClusterStatus& status, bool verbose) {
  std::vector<Row> rows = {{"NAME", "STATE", "RACK", "WEIGHT", "SHARE", "KEYS", "BYTES", "HINTS", "LAG"}};
  if (verbose)
    rows.front().insert(rows.front().end(), {"HINT BYTES", "SKEW", "TO REFILL", "EPOCH", "PEER", "CLIENT"});
  for (const MemberInfo& member : status.members) {
    rows.push_back({member.name, member.state, member.rack, decimal(member.weight, 2),
                    decimal(member.share * 100, 1) + "%", or_dash(member.keys),
                    member.bytes ? human_bytes(*member.bytes) : "-", or_dash(member.hints),
                    member.lag_seconds ? decimal(*member.lag_seconds, 1) + "s" : "-"});
    if (verbose)
      rows.back().insert(rows.back().end(),
                         {member.hint_bytes ? human_bytes(*member.hint_bytes) : "-",
                          member.skew_seconds ? decimal(*member.skew_seconds, 3) + "s" : "-",
                          or_dash(member.incomplete_partitions), or_dash(member.epoch),
                          text_or_dash(member.peer_address), text_or_dash(member.client_address)});
  }
  const std::string lineage =
      verbose && status.lineage != 1 ? ", lineage " + std::to_string(status.lineage) : "";
  return "epoch " + std::to_string(status.epoch) + lineage +
         (status.change_under_way ? ", a change is under way\n" : "\n") + table(rows) + warnings(status);
}

std::string to_text(const RingInfo& ring) {
  std::string text = "epoch " + std::to_string(ring.epoch) +
                     (ring.lineage == 1 ? "" : ", lineage " + std::to_string(ring.lineage) + " (forced)") +
                     ", digest " + ring.digest + ", " + counted(ring.replicas, "replica") + ", " +
                     counted(ring.partitions, "partition") + ", " + ring.placer + " placer\n";
  std::vector<Row> rows = {{"NAME", "ID", "RACK", "WEIGHT", "STATUS"}};
  for (const MemberInfo& member : ring.members)
    rows.push_back({member.name, hex(member.id), member.rack, decimal(member.weight, 2), member.status});
  text += table(rows);
  if (ring.stage != "none") text += ring.stage + ": " + listed(ring.steps) + "; see `kvctl plan show`\n";
  if (!ring.waiting.empty()) text += "waiting to join: " + listed(ring.waiting) + '\n';
  for (size_t i = 0; i < ring.owners.size(); ++i) text += std::to_string(i) + ' ' + ring.owners[i] + '\n';
  return text;
}

std::string to_text(const std::vector<BucketInfo>& buckets) {
  const auto quorum_or = [](uint32_t count) {
    return count == 0 ? std::string("quorum") : std::to_string(count);
  };
  std::vector<Row> rows = {{"NAME", "CONFLICT", "R", "W", "TTL"}};
  for (const BucketInfo& bucket : buckets) {
    rows.push_back({bucket.name, bucket.conflict, quorum_or(bucket.r), quorum_or(bucket.w),
                    bucket.ttl_ms == 0 ? "none" : duration_text(std::chrono::milliseconds(bucket.ttl_ms))});
  }
  return table(rows);
}

std::string to_text(const HintsOfAll& hints) {
  std::string text =
      counted(hints.hints, "hint") + ", " + human_bytes(hints.bytes) + not_asked(hints.unknown);
  if (hints.peers.empty()) return text;
  std::vector<Row> rows = {{"FOR", "HELD BY", "HINTS", "BYTES"}};
  for (const HintInfo& peer : hints.peers)
    rows.push_back({peer.intended, peer.held_by, std::to_string(peer.hints), human_bytes(peer.bytes)});
  return text + table(rows);
}

std::string to_text(const LagOfAll& lag) {
  std::vector<Row> rows = {
      {"FROM", "TO", "COMPARED", "PARTITIONS THAT DIFFERED", "WRITES BEHIND", "HINT BYTES", "PROBLEM"}};
  for (const auto& [pair, hint_bytes] : lag.pairs) {
    rows.push_back({pair.from, pair.to,
                    pair.lag_seconds ? decimal(*pair.lag_seconds, 1) + "s ago" : "not yet",
                    std::to_string(pair.differing_partitions), std::to_string(pair.behind),
                    hint_bytes ? human_bytes(*hint_bytes) : "-", text_or_dash(pair.problem)});
  }
  return table(rows);
}

std::string to_text(const RepairOfAll& repair, bool accept_loss) {
  const RepairReport& sum = repair.sum;
  if (accept_loss) {
    std::string text = counted(sum.accepted_loss.size(), "partition") + " taken for whole";
    for (size_t i = 0; i < sum.accepted_loss.size(); ++i)
      text += (i == 0 ? ": " : " ") + std::to_string(sum.accepted_loss[i]);
    return text + not_asked(repair.unknown);
  }
  return counted(sum.differences, "difference") + " in " + counted(sum.partitions, "comparison") +
         " of partitions; " + counted(sum.keys_sent, "key") + ", " + human_bytes(sum.bytes_sent) + " sent" +
         (sum.partial ? "; partial: not all owners could be compared" : "") + not_asked(repair.unknown);
}

std::string to_text(const PurgeOfAll& purge) {
  std::string text = counted(purge.sum.erased, "record") + " let go, " + std::to_string(purge.sum.blocked) +
                     " must stay" + not_asked(purge.unknown);
  for (const std::string& why : purge.sum.blocked_by) text += "  " + why + '\n';
  return text;
}

std::string to_text(const ScrubOfAll& scrub) {
  return counted(scrub.sum.records, "record") + " in " + counted(scrub.sum.partitions, "partition") +
         " read, " + counted(scrub.sum.leaves_corrected, "digest") + " corrected, " +
         counted(scrub.sum.problems.size(), "problem") + not_asked(scrub.unknown);
}

}  // namespace ringkv::tools
