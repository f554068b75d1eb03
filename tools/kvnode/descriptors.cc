#include "tools/kvnode/descriptors.h"

#include <sys/resource.h>

namespace ringkv::tools {
namespace {

constexpr rlim_t kFewDescriptors = 4096;

}  // namespace

std::optional<std::string> raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  if (limit.rlim_cur < limit.rlim_max) {
    rlimit raised = limit;
    raised.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &raised) == 0) limit = raised;
  }
  if (limit.rlim_cur >= kFewDescriptors) return std::nullopt;
  return "only " + std::to_string(limit.rlim_cur) +
         " file descriptors: connections may be refused. Before kvnode starts: ulimit -n " +
         std::to_string(kFewDescriptors) + " (as root), or LimitNOFILE= in its unit";
}

}  // namespace ringkv::tools
