// libFuzzer: any bytes as a stream of frames. Whatever comes out lies within what went in.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "node/frame.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  for (;;) {
    const auto frame = ringkv::read_frame(rest, ringkv::kFrameBytesMax);
    if (!frame.ok() || !frame->has_value()) return 0;
    const ringkv::Frame& read = **frame;
    if (read.bytes > rest.size() ||
        ringkv::kFrameHeaderBytes + read.message.size() + read.values.size() != read.bytes)
      std::abort();
    rest.remove_prefix(read.bytes);
  }
}
