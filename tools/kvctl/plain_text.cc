#include "tools/kvctl/plain_text.h"

#include <algorithm>
#include <iomanip>
#include <optional>
#include <sstream>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/json_text.h"

namespace ringkv::tools {
namespace {

constexpr size_t kValueBytesShown = 64;

using Row = std::vector<std::string>;

// Columns separated by two blanks, each as wide as its widest cell.
std::string table(const std::vector<Row>& rows) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i + 1 < row.size(); ++i)
      text += row[i] + std::string(widths[i] - row[i].size() + 2, ' ');
    text += row.back() + '\n';
  }
  return text;
}

std::string decimal(double value, int digits) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(digits) << value;
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

}  // namespace

std::string to_text(const Explanation& explanation) {
  std::string text = "token " + hex(explanation.token) + ", partition " +
                     std::to_string(explanation.partition) + ", epoch " + std::to_string(explanation.epoch) +
                     '\n';
  for (const ReplicaInfo& replica : explanation.replicas) {
    text += replica.node + " (rack " + replica.rack + "): " +
            (!replica.alive             ? "down"
             : replica.versions.empty() ? "holds nothing"
                                        : "holds");
    if (!replica.hint_for.empty()) text += ", a hint for " + replica.hint_for;
    if (!replica.whole) text += ", but isn't whole yet: it doesn't count for reads";
    text += '\n' + versions_text(replica.versions);
    for (const std::string& why : replica.blocked_by) text += "  its tombstone stays: " + why + '\n';
  }
  for (size_t i = 0; i < explanation.would_answer.size(); ++i)
    text += "R = " + std::to_string(i + 1) + " would answer: " + explanation.would_answer[i] + '\n';
  return text;
}

std::string to_text(const LocalRecord& record) {
  return (record.found ? "found\n" : "not found\n") + versions_text(record.versions);
}

std::string to_text(const ClusterStatus& status, bool verbose) {
  std::vector<Row> rows = {{"NAME", "STATE", "RACK", "WEIGHT", "SHARE", "KEYS", "BYTES", "HINTS", "LAG"}};
  if (verbose) rows.front().insert(rows.front().end(), {"HINT BYTES", "SKEW", "EPOCH", "PEER", "CLIENT"});
  for (const MemberInfo& member : status.members) {
    rows.push_back({member.name, member.state, member.rack, decimal(member.weight, 2),
                    decimal(member.share * 100, 1) + "%", or_dash(member.keys),
                    member.bytes ? human_bytes(*member.bytes) : "-", or_dash(member.hints),
                    member.lag_seconds ? decimal(*member.lag_seconds, 1) + "s" : "-"});
    if (verbose)
      rows.back().insert(
          rows.back().end(),
          {member.hint_bytes ? human_bytes(*member.hint_bytes) : "-",
           member.skew_seconds ? decimal(*member.skew_seconds, 3) + "s" : "-", or_dash(member.epoch),
           text_or_dash(member.peer_address), text_or_dash(member.client_address)});
  }
  return "epoch " + std::to_string(status.epoch) +
         (status.change_under_way ? ", a change is under way\n" : "\n") + table(rows);
}

std::string to_text(const RingInfo& ring) {
  std::string text = "epoch " + std::to_string(ring.epoch) + ", digest " + ring.digest + ", " +
                     counted(ring.replicas, "replica") + ", " + counted(ring.partitions, "partition") + ", " +
                     ring.placer + " placer\n";
  std::vector<Row> rows = {{"NAME", "ID", "RACK", "WEIGHT", "STATUS"}};
  for (const MemberInfo& member : ring.members)
    rows.push_back({member.name, hex(member.id), member.rack, decimal(member.weight, 2), member.status});
  text += table(rows);
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

std::string hints_text(const std::vector<HintInfo>& peers) {
  if (peers.empty()) return "no hints\n";
  std::vector<Row> rows = {{"FOR", "HELD BY", "HINTS", "BYTES"}};
  for (const HintInfo& peer : peers)
    rows.push_back({peer.intended, peer.held_by, std::to_string(peer.hints), human_bytes(peer.bytes)});
  return table(rows);
}

std::string lag_text(const std::vector<LagInfo>& pairs) {
  std::vector<Row> rows = {{"FROM", "TO", "COMPARED", "DIFFERING PARTITIONS", "WRITES BEHIND", "PROBLEM"}};
  for (const LagInfo& pair : pairs) {
    rows.push_back(
        {pair.from, pair.to, pair.lag_seconds ? decimal(*pair.lag_seconds, 1) + "s ago" : "not yet",
         std::to_string(pair.differing_partitions), std::to_string(pair.behind), text_or_dash(pair.problem)});
  }
  return table(rows);
}

std::string repair_text(const RepairReport& report, bool accepted_loss) {
  if (accepted_loss) {
    std::string text = counted(report.accepted_loss.size(), "partition") + " taken for whole as they are";
    for (const uint32_t partition : report.accepted_loss) text += ' ' + std::to_string(partition);
    return text + '\n';
  }
  return counted(report.differences, "difference") + ", " + counted(report.keys_sent, "key") + " and " +
         human_bytes(report.bytes_sent) + " sent" +
         (report.partial ? "; not all members could be compared" : "") + '\n';
}

std::string purge_text(const PurgeReport& report) {
  std::string text =
      counted(report.erased, "record") + " let go, " + std::to_string(report.blocked) + " must stay\n";
  for (const std::string& why : report.blocked_by) text += why + '\n';
  return text;
}

std::string scrub_text(const ScrubReport& report) {
  return counted(report.records, "record") + " in " + counted(report.partitions, "partition") + " read, " +
         std::to_string(report.leaves_corrected) + " leaves corrected, " +
         counted(report.problems.size(), "problem") + '\n';
}

}  // namespace ringkv::tools
