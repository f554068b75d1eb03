#include "tools/kvctl/cluster_reports.h"

#include <algorithm>

namespace ringkv::tools {
namespace {

std::vector<std::string> names_of(const std::vector<Unanswered>& unanswered) {
  std::vector<std::string> names;
  for (const Unanswered& one : unanswered) names.push_back(one.member);
  return names;
}

void add_named(const std::string& member, const std::vector<std::string>& reasons,
               std::vector<std::string>& all) {
  for (const std::string& reason : reasons) all.push_back(member + ": " + reason);
}

template <class Answers>
auto answer_of(const Answers& answers, const std::string& member) {
  return std::find_if(answers.begin(), answers.end(),
                      [&](const auto& answer) { return answer.member == member; });
}

std::optional<uint64_t> hint_bytes_of(const LagInfo& pair, const Asked<std::vector<HintInfo>>& hints) {
  const auto answer = answer_of(hints.answers, pair.from);
  if (answer == hints.answers.end()) return std::nullopt;
  uint64_t bytes = 0;
  for (const HintInfo& hint : answer->report) bytes += hint.intended == pair.to ? hint.bytes : 0;
  return bytes;
}

}  // namespace

std::string reason_of(const Unanswered& unanswered) {
  const std::string& why = unanswered.why.message();
  return why.starts_with(unanswered.member + " ") ? why : unanswered.member + ": " + why;
}

HintsOfAll together(const Asked<std::vector<HintInfo>>& asked) {
  HintsOfAll all;
  for (const auto& answer : asked.answers) {
    for (const HintInfo& hint : answer.report) {
      all.hints += hint.hints;
      all.bytes += hint.bytes;
      all.peers.push_back(hint);
    }
  }
  all.unknown = names_of(asked.unanswered);
  return all;
}

TransfersOfAll together(const Asked<TransferReport>& asked) {
  TransfersOfAll all;
  for (const auto& answer : asked.answers) all.members.push_back(answer.report);
  all.unknown = names_of(asked.unanswered);
  return all;
}

LagOfAll together(const Asked<std::vector<LagInfo>>& lags, const Asked<std::vector<HintInfo>>& hints) {
  LagOfAll all;
  for (const auto& answer : lags.answers) {
    for (const LagInfo& pair : answer.report) all.pairs.push_back({pair, hint_bytes_of(pair, hints)});
  }
  all.unknown = names_of(lags.unanswered);
  return all;
}

RepairOfAll together(const Asked<RepairReport>& asked) {
  RepairOfAll all;
  RepairReport& sum = all.sum;
  for (const auto& [member, report] : asked.answers) {
    sum.differences += report.differences;
    sum.keys_sent += report.keys_sent;
    sum.bytes_sent += report.bytes_sent;
    sum.partitions += report.partitions;
    sum.partial = sum.partial || report.partial;
    add_named(member, report.problems, sum.problems);
    sum.accepted_loss.insert(sum.accepted_loss.end(), report.accepted_loss.begin(),
                             report.accepted_loss.end());
  }
  for (const Unanswered& one : asked.unanswered) sum.problems.push_back(reason_of(one));
  sum.partial = sum.partial || !asked.unanswered.empty();
  std::sort(sum.accepted_loss.begin(), sum.accepted_loss.end());
  sum.accepted_loss.erase(std::unique(sum.accepted_loss.begin(), sum.accepted_loss.end()),
                          sum.accepted_loss.end());
  all.unknown = names_of(asked.unanswered);
  return all;
}

PurgeOfAll together(const Asked<PurgeReport>& asked) {
  PurgeOfAll all;
  for (const auto& [member, report] : asked.answers) {
    all.sum.erased += report.erased;
    all.sum.blocked += report.blocked;
    add_named(member, report.blocked_by, all.sum.blocked_by);
  }
  all.unknown = names_of(asked.unanswered);
  return all;
}

ScrubOfAll together(const Asked<ScrubReport>& asked) {
  ScrubOfAll all;
  for (const auto& [member, report] : asked.answers) {
    all.sum.partitions += report.partitions;
    all.sum.records += report.records;
    all.sum.leaves_corrected += report.leaves_corrected;
    add_named(member, report.problems, all.sum.problems);
  }
  all.unknown = names_of(asked.unanswered);
  return all;
}

}  // namespace ringkv::tools
