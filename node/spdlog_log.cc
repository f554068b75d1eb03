#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <chrono>
#include <mutex>

#include "base/text.h"
#include "ringkv/log.h"

namespace ringkv {
namespace {

using SteadyClock = std::chrono::steady_clock;

// A line that goes on coming is mentioned this often with its count.
constexpr std::chrono::seconds kRepeatsMentionedEvery{10};

spdlog::level::level_enum level_of(LogSeverity severity) {
  switch (severity) {
    case LogSeverity::kDebug:
      return spdlog::level::debug;
    case LogSeverity::kInfo:
      return spdlog::level::info;
    case LogSeverity::kWarning:
      return spdlog::level::warn;
    case LogSeverity::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

// spdlog throws when it can't open a file; that ends here.
Result<spdlog::sink_ptr> sink_of(const std::string& file) {
  if (file.empty()) return spdlog::sink_ptr(std::make_shared<spdlog::sinks::stderr_sink_st>());
  try {
    return spdlog::sink_ptr(std::make_shared<spdlog::sinks::basic_file_sink_st>(file));
  } catch (const spdlog::spdlog_ex& error) {
    return invalid_argument(cat("log file ", file, ": ", error.what()));
  }
}

std::unique_ptr<spdlog::formatter> utc_formatter() {
  return std::make_unique<spdlog::pattern_formatter>("%Y-%m-%dT%H:%M:%S.%eZ %l %n %v",
                                                     spdlog::pattern_time_type::utc);
}

}  // namespace

struct LogFile::Impl {
  Impl(LogTarget to, spdlog::sink_ptr sink) : target(std::move(to)), logger(target.node) {
    use(std::move(sink));
  }

  void use(spdlog::sink_ptr sink) {
    logger.sinks() = {std::move(sink)};
    logger.set_formatter(utc_formatter());
    logger.set_level(spdlog::level::debug);
    logger.flush_on(spdlog::level::debug);
  }

  void mention_repeats() {
    if (repeats > 0) logger.log(last_level, "log: the line before came {} times more", repeats);
    repeats = 0;
    mentioned = SteadyClock::now();
  }

  const LogTarget target;
  std::mutex mutex;  // guards all below
  spdlog::logger logger;
  std::string last_line;
  spdlog::level::level_enum last_level = spdlog::level::info;
  uint64_t repeats = 0;
  SteadyClock::time_point mentioned = SteadyClock::now();
};

LogFile::LogFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

LogFile::~LogFile() {
  const std::lock_guard lock(impl_->mutex);
  impl_->mention_repeats();
}

Result<std::unique_ptr<LogFile>> LogFile::open(const LogTarget& target) {
  Result<spdlog::sink_ptr> sink = sink_of(target.file);
  if (!sink.ok()) return sink.status();
  return std::unique_ptr<LogFile>(new LogFile(std::make_unique<Impl>(target, *std::move(sink))));
}

void LogFile::write(LogSeverity severity, std::string_view room, std::string_view message) {
  const std::lock_guard lock(impl_->mutex);
  const spdlog::level::level_enum level = level_of(severity);
  std::string line = cat(room, ": ", message);
  if (line == impl_->last_line && level == impl_->last_level) {
    ++impl_->repeats;
    if (SteadyClock::now() - impl_->mentioned >= kRepeatsMentionedEvery) impl_->mention_repeats();
    return;
  }
  impl_->mention_repeats();
  impl_->logger.log(level, "{}", line);
  impl_->last_line = std::move(line);
  impl_->last_level = level;
}

void LogFile::reopen() {
  const std::lock_guard lock(impl_->mutex);
  impl_->mention_repeats();
  Result<spdlog::sink_ptr> sink = sink_of(impl_->target.file);
  if (!sink.ok()) {
    impl_->logger.error("log: {}", sink.status().message());
    return;
  }
  impl_->use(*std::move(sink));
}

}  // namespace ringkv
