// Standard input, output and error as a program may find them: closed, or a directory.
#pragma once

#include "ringkv/status.h"

namespace ringkv::tools {

// First thing in main: where one of the three is closed, it is opened on /dev/null, so that no file or socket
// of ours gets its number. Input is opened so that reading fails.
void hold_standard_descriptors();

// INVALID_ARGUMENT when standard input can't be read.
Status check_standard_input();

}  // namespace ringkv::tools
