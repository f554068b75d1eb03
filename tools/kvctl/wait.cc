#include <algorithm>
#include <thread>

#include "tools/common/units.h"
#include "tools/kvctl/all_members.h"
#include "tools/kvctl/joined.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kAskAgainAfter{50};
constexpr std::chrono::milliseconds kCompareAgainAfter{500};

struct Waiting {
  std::string name;
  std::chrono::milliseconds again_after;
  std::string (*missing)(Session&);  // "": it is true
};

std::string missing_for_all_joined(Session& session) {
  const Result<ClusterStatus> status = session.admin().status();
  return status.ok() ? missing_for_joined(*status).value_or("") : status.status().to_string();
}

Waiting waiting_for(WaitVerb::For what) {
  switch (what) {
    case WaitVerb::For::kJoined:
      return {"joined", kAskAgainAfter, &missing_for_all_joined};
    case WaitVerb::For::kConverged:
      return {"converged", kCompareAgainAfter, &missing_for_converged};
    case WaitVerb::For::kHintsDrained:
      return {"drained", kAskAgainAfter, &missing_for_hints_drained};
  }
  return {};
}

}  // namespace

int run(Session& session, const WaitVerb& verb) {
  const Waiting waiting = waiting_for(verb.what);
  while (true) {
    const std::string missing = waiting.missing(session);
    if (missing.empty()) return kDone;
    const std::chrono::milliseconds left = session.patience_left();
    if (left.count() == 0) {
      complain("not " + waiting.name + " within " + duration_text(session.target().patience) + ": " +
               missing);
      return kConditionNotMet;
    }
    std::this_thread::sleep_for(std::min(left, waiting.again_after));
  }
}

}  // namespace ringkv::tools
