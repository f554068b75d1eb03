#include <map>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/asked.h"
#include "tools/kvctl/cluster_reports.h"
#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

// What couldn't be found out is said whatever else was; only when nobody has answered is that a failure.
template <class Report>
int finish(const Asked<Report>& asked, const std::string& document) {
  if (asked.answers.empty() && !asked.unanswered.empty()) {
    const Unanswered& first = asked.unanswered.front();
    return fail(Status(first.why.code(), reason_of(first)));
  }
  write_out(document);
  flush_out();
  for (const Unanswered& one : asked.unanswered) complain(reason_of(one));
  return kDone;
}

// "412 keys, 1.2 MiB fetched" since a member was first looked at.
class Fetched {
 public:
  Fetched(Store& store, std::chrono::milliseconds timeout) : admin_(store, timeout) {}

  std::string look(const std::string& member) {
    const Result<Statistics> now = admin_.statistics(member);
    if (!now.ok()) return "";
    const auto [before, first] = before_.emplace(member, *now);
    if (first) return "";
    const auto grown = [&](const std::string& name) {
      return static_cast<uint64_t>(of(*now, name) - of(before->second, name));
    };
    return counted(grown("rounds.keys_received"), "key") + ", " +
           human_bytes(grown("rounds.bytes_received")) + " fetched";
  }

 private:
  static double of(const Statistics& statistics, const std::string& name) {
    const auto figure = statistics.find(name);
    return figure == statistics.end() ? 0 : figure->second;
  }

  Admin admin_;
  std::map<std::string, Statistics> before_;
};

// Who doesn't own the partition says so; that is no failure as long as somebody does.
void leave_out_strangers(Asked<RepairReport>& asked) {
  if (asked.answers.empty()) return;
  std::erase_if(asked.unanswered,
                [](const Unanswered& one) { return one.why.code() == StatusCode::kInvalidArgument; });
}

}  // namespace

int run(Session& session, const HintsVerb&) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  const auto asked =
      ask_each(status->members, [&](const std::string& name) { return session.admin().hints(name); });
  const HintsOfAll all = together(asked);
  return finish(asked, session.target().json ? to_json(all) + '\n' : to_text(all));
}

int run(Session& session, const LagVerb&) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  const auto lags =
      ask_each(status->members, [&](const std::string& name) { return session.admin().lag(name); });
  const auto hints =
      ask_each(status->members, [&](const std::string& name) { return session.admin().hints(name); });
  const LagOfAll all = together(lags, hints);
  return finish(lags, session.target().json ? to_json(all) + '\n' : to_text(all));
}

int run(Session& session, const TransfersVerb&) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  const auto asked =
      ask_each(status->members, [&](const std::string& name) { return session.admin().transfers(name); });
  const TransfersOfAll all = together(asked);
  return finish(asked, session.target().json ? to_json(all) + '\n' : to_text(all));
}

int run(Session& session, const ThrottleVerb& verb) {
  if (Status status = session.admin().throttle(verb.bytes_per_second); !status.ok()) return fail(status);
  const std::string pace = verb.bytes_per_second == 0 ? "\"auto\"" : std::to_string(verb.bytes_per_second);
  line_out(session.target().json ? "{\"throttle\":" + pace + '}'
           : verb.bytes_per_second == 0
               ? "members take copies in as fast as the requests of clients bear"
               : "each member takes in at most " + human_bytes(verb.bytes_per_second) +
                     " a second; all know within seconds");
  return kDone;
}

int run(Session& session, const RepairVerb& verb) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  Admin patient(session.store(), verb.timeout);
  Fetched fetched(session.store(), session.target().timeout);
  MemberProgress progress("repair", [&](const std::string& member) { return fetched.look(member); });
  auto asked = ask_each(
      status->members,
      [&](const std::string& name) { return patient.repair(name, verb.partition, verb.accept_loss); },
      progress);
  if (verb.partition) leave_out_strangers(asked);
  const RepairOfAll all = together(asked);
  const int code =
      finish(asked, session.target().json ? to_json(all) + '\n' : to_text(all, verb.accept_loss));
  for (const auto& [member, report] : asked.answers) {
    for (const std::string& problem : report.problems) complain(member + ": " + problem);
  }
  return code;
}

int run(Session& session, const PurgeVerb& verb) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  Admin patient(session.store(), verb.timeout);
  MemberProgress progress("purge");
  const auto asked = ask_each(
      status->members, [&](const std::string& name) { return patient.purge(name); }, progress);
  const PurgeOfAll all = together(asked);
  return finish(asked, session.target().json ? to_json(all) + '\n' : to_text(all));
}

// Records that don't fit what was written are a failure of their node's disk or memory.
int run(Session& session, const ScrubVerb& verb) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  Admin patient(session.store(), verb.timeout);
  MemberProgress progress("scrub");
  const auto asked = ask_each(
      status->members, [&](const std::string& name) { return patient.scrub(name); }, progress);
  const ScrubOfAll all = together(asked);
  const int code = finish(asked, session.target().json ? to_json(all) + '\n' : to_text(all));
  for (const std::string& problem : all.sum.problems) complain(problem);
  return code == kDone && !all.sum.problems.empty() ? int{kFailed} : code;
}

}  // namespace ringkv::tools
