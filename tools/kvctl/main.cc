// kvctl: the command line of a ringkv cluster.
#include "tools/common/standard_descriptors.h"
#include "tools/kvctl/flags.h"
#include "tools/kvctl/session.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {

int run(const Invocation& invocation) {
  const bool waits = std::holds_alternative<WaitVerb>(invocation.verb);
  const bool routed = std::holds_alternative<LoadVerb>(invocation.verb);
  Result<Session> session = Session::open(invocation.target, routed);
  if (!session.ok()) {
    const int exit_code = fail(session.status());
    return waits ? int{kConditionNotMet} : exit_code;
  }
  return std::visit([&session](const auto& verb) { return run(*session, verb); }, invocation.verb);
}

}  // namespace ringkv::tools

int main(int argc, char** argv) {
  using namespace ringkv::tools;
  hold_standard_descriptors();
  const auto parsed = parse_command_line(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const int exit_code = run(std::get<Invocation>(parsed));
  flush_out();
  return exit_code;
}
