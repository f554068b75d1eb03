#include "tools/kvctl/converged.h"

#include "tools/common/units.h"
#include "tools/kvctl/cluster_reports.h"
#include "tools/kvctl/joined.h"

namespace ringkv::tools {
namespace {

// A line of at most so many parts: with many members it would be no line.
constexpr size_t kPartsMax = 6;

std::optional<std::string> line_of(const std::vector<std::string>& parts) {
  if (parts.empty()) return std::nullopt;
  std::string line;
  for (size_t i = 0; i < parts.size() && i < kPartsMax; ++i) line += (i == 0 ? "" : "; ") + parts[i];
  if (parts.size() > kPartsMax) line += "; and " + std::to_string(parts.size() - kPartsMax) + " more";
  return line;
}

}  // namespace

std::optional<std::string> missing_for_comparison(const ClusterStatus& status) {
  std::vector<std::string> parts;
  for (const MemberInfo& member : status.members) {
    if (member.state != "up") parts.push_back(member.name + " is " + member.state);
  }
  if (!parts.empty()) return line_of(parts);
  if (auto missing = missing_for_joined(status)) return missing;
  for (const MemberInfo& member : status.members) {
    if (member.epoch != status.epoch)
      parts.push_back(member.name + " has yet to take epoch " + std::to_string(status.epoch));
  }
  return line_of(parts);
}

std::optional<std::string> missing_for_hints_drained(const Asked<std::vector<HintInfo>>& asked) {
  std::vector<std::string> parts;
  for (const Unanswered& one : asked.unanswered) parts.push_back(reason_of(one));
  for (const HintInfo& hint : together(asked).peers) {
    if (hint.hints > 0)
      parts.push_back(counted(hint.hints, "hint") + " for " + hint.intended + " on " + hint.held_by);
  }
  return line_of(parts);
}

std::optional<std::string> missing_for_equality(const Asked<RepairReport>& asked) {
  std::vector<std::string> parts;
  for (const Unanswered& one : asked.unanswered) parts.push_back(reason_of(one));
  for (const auto& [member, report] : asked.answers) {
    if (report.differences > 0)
      parts.push_back(counted(report.differences, "key") + " differed on " + member);
    if (report.partial && report.problems.empty())
      parts.push_back(member + " could not compare itself with all others");
    for (const std::string& problem : report.problems) parts.push_back(member + ": " + problem);
  }
  return line_of(parts);
}

}  // namespace ringkv::tools
