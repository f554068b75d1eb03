// How messages are put together; the forms of bytes in them are public, in ringkv/text.h.
#pragma once

#include <sstream>
#include <string>
#include <utility>

#include "ringkv/text.h"

namespace ringkv {

// The arguments, one after another.
template <class... Args>
std::string cat(const Args&... args) {
  std::ostringstream out;
  (out << ... << args);
  return std::move(out).str();
}

}  // namespace ringkv
