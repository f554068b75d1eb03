#include "tools/kvctl/progress.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <sstream>

#include "ringkv/text.h"
#include "tools/common/units.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kBarEvery{200};
constexpr std::chrono::seconds kLineEvery{5};
constexpr uint64_t kBarWidth = 30;

std::string bar(uint64_t done, uint64_t total) {
  const uint64_t filled = std::min(kBarWidth, kBarWidth * done / total);
  return "[" + std::string(filled, '#') + std::string(kBarWidth - filled, '.') + "] ";
}

}  // namespace

Progress::Progress(std::string verb, uint64_t bytes_total)
    : verb_(std::move(verb)), bytes_total_(bytes_total), terminal_(::isatty(STDERR_FILENO) != 0) {}

void Progress::update(const Amount& done) {
  const auto now = Clock::now();
  if (now - shown_ < (terminal_ ? kBarEvery : std::chrono::milliseconds(kLineEvery))) return;
  shown_ = now;
  if (!terminal_) {
    std::cerr << verb_ << ' ' << summary(done) << std::endl;
    return;
  }
  std::cerr << "\r\x1b[K" << (bytes_total_ > 0 ? bar(done.bytes, bytes_total_) : "") << summary(done)
            << std::flush;
  bar_there_ = true;
}

std::string Progress::summary(const Amount& done) const {
  const double seconds = std::max(std::chrono::duration<double>(Clock::now() - start_).count(), 1e-3);
  std::ostringstream out;
  out.precision(1);
  out << std::fixed << counted(done.lines, "line") << ", " << human_bytes(done.bytes) << " in " << seconds
      << " s: " << static_cast<uint64_t>(static_cast<double>(done.lines) / seconds) << " lines/s";
  return out.str();
}

void Progress::clear() {
  if (bar_there_) std::cerr << "\r\x1b[K" << std::flush;
  bar_there_ = false;
}

}  // namespace ringkv::tools
