#include <algorithm>
#include <thread>

#include "tools/common/units.h"
#include "tools/kvctl/joined.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kAskAgainAfter{50};

std::optional<std::string> missing(Session& session) {
  const Result<ClusterStatus> status = session.admin().status();
  return status.ok() ? missing_for_joined(*status) : status.status().to_string();
}

}  // namespace

int run(Session& session, const WaitVerb&) {
  while (true) {
    const std::optional<std::string> what = missing(session);
    if (!what) return kDone;
    const std::chrono::milliseconds left = session.patience_left();
    if (left.count() == 0) {
      complain("not joined within " + duration_text(session.target().patience) + ": " + *what);
      return kConditionNotMet;
    }
    std::this_thread::sleep_for(std::min(left, kAskAgainAfter));
  }
}

}  // namespace ringkv::tools
