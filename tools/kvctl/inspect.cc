#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {

int run(Session& session, const LocalGetVerb& verb) {
  const Target& target = session.target();
  const Result<LocalRecord> record = session.admin().local_get(verb.node, verb.key, target.bucket);
  if (!record.ok()) return fail(record.status());
  if (target.json) {
    line_out(to_json({.key = verb.key, .bucket = target.bucket}, *record));
  } else {
    write_out(to_text(*record));
  }
  return record->found ? kDone : kNotFound;
}

int run(Session& session, const ExplainVerb& verb) {
  const Target& target = session.target();
  const Result<Explanation> explanation = session.admin().explain(verb.key, target.bucket);
  if (!explanation.ok()) return fail(explanation.status());
  if (target.json) {
    line_out(to_json({.key = verb.key, .bucket = target.bucket}, *explanation));
  } else {
    write_out(to_text(*explanation));
  }
  return kDone;
}

int run(Session& session, const StatusVerb& verb) {
  const Result<ClusterStatus> status = session.admin().status();
  if (!status.ok()) return fail(status.status());
  write_out(session.target().json ? to_json(*status) + '\n' : to_text(*status, verb.verbose));
  return kDone;
}

int run(Session& session, const RingVerb& verb) {
  const Result<RingInfo> ring = session.admin().ring(verb.owners);
  if (!ring.ok()) return fail(ring.status());
  write_out(session.target().json ? to_json(*ring) + '\n' : to_text(*ring));
  return kDone;
}

int run(Session& session, const StatsVerb& verb) {
  const Result<Statistics> statistics = session.admin().statistics(verb.node, verb.reset_latencies);
  if (!statistics.ok()) return fail(statistics.status());
  line_out(to_json(*statistics));
  return kDone;
}

}  // namespace ringkv::tools
