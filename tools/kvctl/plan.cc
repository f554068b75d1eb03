#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

int show(Session& session) {
  const Result<PlanReport> report = session.admin().show_plan();
  if (!report.ok()) return fail(report.status());
  write_out(session.target().json ? to_json(*report) + '\n' : to_text(*report));
  return kDone;
}

std::string_view said_of_cancelled(std::string_view stage) {
  if (stage == "planned") return "the plan is dropped; nodes that would have joined wait on";
  if (stage == "begun") return "the change is taken back";
  return "nothing was planned; nodes that waited are forgotten, and soon back if they still ask";
}

}  // namespace

int run(Session& session, const PlanVerb& verb) {
  const Status status = session.admin().plan(verb.steps);
  return status.ok() ? show(session) : fail(status);
}

int run(Session& session, const ShowPlanVerb&) { return show(session); }

int run(Session& session, const CommitPlanVerb& verb) {
  std::optional<uint64_t> from_epoch = verb.epoch;
  if (!from_epoch) {
    const Result<RingInfo> ring = session.admin().ring();
    if (!ring.ok()) return fail(ring.status());
    from_epoch = ring->epoch;
  }
  const Result<uint64_t> begun = session.admin().commit_plan(*from_epoch);
  if (!begun.ok()) return fail(begun.status());
  const std::string epoch = std::to_string(*begun);
  line_out(session.target().json
               ? "{\"epoch\":" + epoch + '}'
               : "epoch " + epoch + " begins it; `kvctl plan show` says how far it has come, " +
                     "`kvctl wait joined` waits for its end");
  return kDone;
}

int run(Session& session, const CancelPlanVerb&) {
  const Result<RingInfo> ring = session.admin().ring();
  if (!ring.ok()) return fail(ring.status());
  if (Status status = session.admin().cancel_plan(ring->epoch); !status.ok()) return fail(status);
  line_out(session.target().json ? "{\"cancelled\":\"" + ring->stage + "\"}"
                                 : said_of_cancelled(ring->stage));
  return kDone;
}

}  // namespace ringkv::tools
