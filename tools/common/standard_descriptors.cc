#include "tools/common/standard_descriptors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ringkv::tools {

void hold_standard_descriptors() {
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number: this one, since those below are open by now.
    (void)::open("/dev/null", O_WRONLY);
  }
}

Status check_standard_input() {
  struct stat about {};
  const int mode = ::fcntl(STDIN_FILENO, F_GETFL);
  if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY || ::fstat(STDIN_FILENO, &about) != 0)
    return invalid_argument("standard input is closed");
  if (S_ISDIR(about.st_mode)) return invalid_argument("standard input is a directory");
  return {};
}

}  // namespace ringkv::tools
