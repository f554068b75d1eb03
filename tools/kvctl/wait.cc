#include <algorithm>
#include <thread>

#include "tools/common/units.h"
#include "tools/kvctl/converged.h"
#include "tools/kvctl/joined.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kAskAgainAfter{50};
constexpr milliseconds kCompareAgainAfter{250};
constexpr milliseconds kOneRequestMin{100};

// So that a request under way doesn't outlast the patience.
Admin admin_within(Session& session, milliseconds most) {
  return Admin(session.store(), std::clamp(session.patience_left(), kOneRequestMin, most));
}

std::optional<std::string> missing_for_joined(Session& session) {
  const Result<ClusterStatus> status = admin_within(session, session.target().timeout).status();
  return status.ok() ? tools::missing_for_joined(*status) : status.status().to_string();
}

std::optional<std::string> missing_for_hints_drained(Session& session) {
  Admin admin = admin_within(session, session.target().timeout);
  const Result<ClusterStatus> status = admin.status();
  if (!status.ok()) return status.status().to_string();
  return tools::missing_for_hints_drained(
      ask_each(status->members, [&](const std::string& name) { return admin.hints(name); }));
}

// Each member's comparison begins after this was called.
std::optional<std::string> missing_for_converged(Session& session) {
  const Result<ClusterStatus> status = admin_within(session, session.target().timeout).status();
  if (!status.ok()) return status.status().to_string();
  if (auto missing = missing_for_comparison(*status)) return missing;
  if (auto missing = missing_for_hints_drained(session)) return missing;
  MemberProgress progress("comparing");
  return missing_for_equality(ask_each(
      status->members,
      [&](const std::string& name) {
        return admin_within(session, std::max(session.target().patience, kOneRequestMin)).repair(name);
      },
      progress));
}

struct Wanted {
  std::string name;
  milliseconds again_after;
  std::optional<std::string> (*missing)(Session&);
};

Wanted wanted_for(WaitVerb::For what) {
  switch (what) {
    case WaitVerb::For::kJoined:
      return {"joined", kAskAgainAfter, &missing_for_joined};
    case WaitVerb::For::kConverged:
      return {"converged", kCompareAgainAfter, &missing_for_converged};
    case WaitVerb::For::kHintsDrained:
      return {"drained", kAskAgainAfter, &missing_for_hints_drained};
  }
  return {};
}

}  // namespace

int run(Session& session, const WaitVerb& verb) {
  const Wanted wanted = wanted_for(verb.what);
  while (true) {
    const std::optional<std::string> missing = wanted.missing(session);
    if (!missing) return kDone;
    const milliseconds left = session.patience_left();
    if (left <= wanted.again_after) {  // a try that is cut short would name nothing better
      complain("not " + wanted.name + " within " + duration_text(session.target().patience) + ": " +
               *missing);
      return kConditionNotMet;
    }
    std::this_thread::sleep_for(wanted.again_after);
  }
}

}  // namespace ringkv::tools
