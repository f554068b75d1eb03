// Standard output for data of any size. Whoever reads may have had enough: then the program ends quietly.
#pragma once

#include <string_view>

namespace ringkv::tools {

// Both end the program when the reader has gone away (0), or when writing fails otherwise (3, with a
// message).
void write_out(std::string_view bytes);
void flush_out();

inline void line_out(std::string_view text) {
  write_out(text);
  write_out("\n");
}

}  // namespace ringkv::tools
