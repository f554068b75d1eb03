#include "tools/kvctl/standard_output.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace ringkv::tools {
namespace {

[[noreturn]] void end_after(int error) {
  if (error == EPIPE) ::_exit(0);
  std::fprintf(stderr, "kvctl: standard output: %s\n", std::strerror(error));
  ::_exit(3);
}

}  // namespace

void write_out(std::string_view bytes) {
  static const bool errors_instead_of_signals = std::signal(SIGPIPE, SIG_IGN) != SIG_ERR;
  (void)errors_instead_of_signals;
  if (std::fwrite(bytes.data(), 1, bytes.size(), stdout) != bytes.size()) end_after(errno);
}

void flush_out() {
  if (std::fflush(stdout) != 0) end_after(errno);
}

}  // namespace ringkv::tools
