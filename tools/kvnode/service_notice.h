// What a service manager wants to hear, as sd_notify(3) says it: one datagram to the socket that
// $NOTIFY_SOCKET names. A few lines of our own instead of libsystemd.
#pragma once

#include <string_view>

#include "ringkv/status.h"

namespace ringkv::tools {

// "READY=1", "STOPPING=1". OK when nobody wants to hear it. What fails is worth a warning and nothing more.
Status notify_service_manager(std::string_view state);

}  // namespace ringkv::tools
