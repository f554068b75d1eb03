#include <iostream>

#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {

// Not done: exit 1, as whatever isn't so.
int run(Session& session, const ForceRingVerb& verb) {
  const Result<ForceReport> report = session.admin().force_ring(verb.lost, verb.yes);
  if (!report.ok()) return fail(report.status());
  write_out(session.target().json ? to_json(*report) + '\n' : to_text(*report));
  if (report->forced) return kDone;
  std::cerr << "kvctl: nothing has happened; the same with --yes does it\n";
  return kNotFound;
}

}  // namespace ringkv::tools
