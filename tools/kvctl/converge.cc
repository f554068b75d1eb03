#include "tools/kvctl/all_members.h"
#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

// What couldn't be found out is said, and is no success.
int code_of(const MemberAnswers& answers) {
  if (!answers.status.ok()) return fail(answers.status);
  for (const std::string& unknown : answers.unknown) complain(unknown);
  return answers.unknown.empty() ? kDone : kFailed;
}

}  // namespace

int run(Session& session, const HintsVerb&) {
  const AllHints all = all_hints(session);
  if (!all.answers.status.ok()) return fail(all.answers.status);
  if (session.target().json) {
    line_out(hints_json(all.peers, all.answers.unknown));
  } else {
    write_out(hints_text(all.peers));
  }
  for (const std::string& unknown : all.answers.unknown) complain(unknown);
  return kDone;
}

int run(Session& session, const LagVerb&) {
  std::vector<LagInfo> all;
  const MemberAnswers answers = ask_all(session, "", [&](const MemberInfo& member) {
    const Result<std::vector<LagInfo>> lag = session.admin().lag(member.name);
    if (lag.ok()) all.insert(all.end(), lag->begin(), lag->end());
    return lag.status();
  });
  if (!answers.status.ok()) return fail(answers.status);
  if (session.target().json) {
    line_out(lag_json(all, answers.unknown));
  } else {
    write_out(lag_text(all));
  }
  for (const std::string& unknown : answers.unknown) complain(unknown);
  return kDone;
}

// Counts are printed whatever is missing: `partial` says so.
int run(Session& session, const RepairVerb& verb) {
  const AllRepairs all = repair_all(session, verb);
  if (!all.answers.status.ok()) return fail(all.answers.status);
  write_out(session.target().json ? repair_json(all.sum) + '\n' : repair_text(all.sum, verb.accept_loss));
  for (const std::string& problem : all.sum.problems) complain(problem);
  return kDone;
}

int run(Session& session, const PurgeVerb&) {
  PurgeReport sum;
  const MemberAnswers answers = ask_all(session, "purge", [&](const MemberInfo& member) {
    const Result<PurgeReport> report = session.admin().purge(member.name);
    if (!report.ok()) return report.status();
    sum.erased += report->erased;
    sum.blocked += report->blocked;
    for (const std::string& why : report->blocked_by) sum.blocked_by.push_back(member.name + ": " + why);
    return Status();
  });
  write_out(session.target().json ? purge_json(sum) + '\n' : purge_text(sum));
  return code_of(answers);
}

int run(Session& session, const ScrubVerb&) {
  ScrubReport sum;
  const MemberAnswers answers = ask_all(session, "scrub", [&](const MemberInfo& member) {
    const Result<ScrubReport> report = session.admin().scrub(member.name);
    if (!report.ok()) return report.status();
    sum.partitions += report->partitions;
    sum.records += report->records;
    sum.leaves_corrected += report->leaves_corrected;
    for (const std::string& problem : report->problems) sum.problems.push_back(member.name + ": " + problem);
    return Status();
  });
  write_out(session.target().json ? scrub_json(sum) + '\n' : scrub_text(sum));
  for (const std::string& problem : sum.problems) complain(problem);
  return code_of(answers);
}

}  // namespace ringkv::tools
