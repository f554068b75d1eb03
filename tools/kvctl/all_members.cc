#include "tools/kvctl/all_members.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/common/units.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : "; ") + name;
  return text;
}

MemberAnswers ask_all(Session& session, const std::string& to,
                      const std::function<Status(const MemberInfo&)>& ask) {
  MemberAnswers answers;
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return {status.status(), {}};
  size_t asked = 0;
  for (const MemberInfo& member : status->members) {
    ++asked;
    if (isatty(STDERR_FILENO) != 0 && !to.empty()) {
      std::fprintf(stderr, "\r\x1b[K%s: %s, member %zu of %zu", to.c_str(), member.name.c_str(), asked,
                   status->members.size());
    }
    const Status answer = ask(member);
    if (!answer.ok()) answers.unknown.push_back(member.name + ": " + answer.message());
    if (answer.code() == StatusCode::kInvalidArgument) answers.status = answer;
  }
  if (isatty(STDERR_FILENO) != 0 && !to.empty()) std::fprintf(stderr, "\r\x1b[K");
  return answers;
}

AllHints all_hints(Session& session) {
  AllHints all;
  all.answers = ask_all(session, "", [&](const MemberInfo& member) {
    const Result<std::vector<HintInfo>> hints = session.admin().hints(member.name);
    if (!hints.ok()) return hints.status();
    for (const HintInfo& hint : *hints) {
      all.peers.push_back(hint);
      all.hints += hint.hints;
      all.bytes += hint.bytes;
    }
    return Status();
  });
  return all;
}

AllRepairs repair_all(Session& session, const RepairVerb& verb) {
  AllRepairs all;
  bool some_owner = false;
  Status no_owner;
  all.answers = ask_all(session, "repair", [&](const MemberInfo& member) -> Status {
    Result<RepairReport> report = session.admin().repair(member.name, verb.partition, verb.accept_loss);
    if (!report.ok() && verb.partition && report.status().code() == StatusCode::kInvalidArgument) {
      no_owner = report.status();
      return {};  // it doesn't own it; others do, or nobody
    }
    if (!report.ok()) return report.status();
    some_owner = true;
    all.sum.differences += report->differences;
    all.sum.keys_sent += report->keys_sent;
    all.sum.bytes_sent += report->bytes_sent;
    all.sum.partitions += report->partitions;
    all.sum.partial = all.sum.partial || report->partial;
    for (const std::string& problem : report->problems)
      all.sum.problems.push_back(member.name + " from " + problem);
    for (const uint32_t partition : report->accepted_loss) all.sum.accepted_loss.push_back(partition);
    if (report->differences > 0)
      all.differing.push_back(counted(report->differences, "key") + " differed on " + member.name);
    return {};
  });
  for (const std::string& unknown : all.answers.unknown) all.sum.problems.push_back(unknown);
  all.sum.partial = all.sum.partial || !all.answers.unknown.empty();
  std::sort(all.sum.accepted_loss.begin(), all.sum.accepted_loss.end());
  all.sum.accepted_loss.erase(std::unique(all.sum.accepted_loss.begin(), all.sum.accepted_loss.end()),
                              all.sum.accepted_loss.end());
  if (all.answers.status.ok() && !some_owner && !no_owner.ok()) all.answers.status = no_owner;
  return all;
}

std::string missing_for_hints_drained(Session& session) {
  const AllHints all = all_hints(session);
  if (!all.answers.status.ok()) return all.answers.status.to_string();
  if (!all.answers.unknown.empty()) return listed(all.answers.unknown);
  std::vector<std::string> left;
  for (const HintInfo& peer : all.peers)
    left.push_back(counted(peer.hints, "hint") + " for " + peer.intended + " on " + peer.held_by);
  return listed(left);
}

std::string missing_for_converged(Session& session) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return status.status().to_string();
  for (const MemberInfo& member : status->members) {
    if (member.state != "up") return member.name + " is " + member.state;
  }
  if (status->change_under_way) return "a change of the ring is under way";
  if (std::string hints = missing_for_hints_drained(session); !hints.empty()) return hints;
  const AllRepairs repairs = repair_all(session, {});
  if (!repairs.answers.status.ok()) return repairs.answers.status.to_string();
  if (repairs.sum.partial) return listed(repairs.sum.problems);
  return listed(repairs.differing);
}

}  // namespace ringkv::tools
