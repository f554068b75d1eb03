// kvnode: one node of a ringkv cluster as a process.
#include <malloc.h>
#include <unistd.h>

#include <array>
#include <future>
#include <iostream>
#include <memory>

#include "ringkv/db.h"
#include "ringkv/log.h"
#include "tools/common/standard_descriptors.h"
#include "tools/kvnode/descriptors.h"
#include "tools/kvnode/flags.h"
#include "tools/kvnode/service_notice.h"
#include "tools/kvnode/settings.h"
#include "tools/kvnode/signals.h"

namespace ringkv::tools {
namespace {

int fail(const Status& status) {
  const bool wrong_use = status.code() == StatusCode::kInvalidArgument;
  std::cerr << "kvnode: " << (wrong_use ? status.message() : status.to_string()) << '\n';
  return wrong_use ? 2 : status.code() == StatusCode::kForbidden ? 5 : 3;
}

Result<Settings> effective_settings(const NodeFlags& flags) {
  GivenSettings given;
  if (!flags.config.empty()) {
    Result<GivenSettings> file = settings_from_file(flags.config);
    if (!file.ok()) return file.status();
    given = *std::move(file);
  }
  for (const auto& [name, value] : settings_from_environment()) given[name] = value;
  for (const auto& [name, value] : flags.given) given[name] = value;
  return settings_of(given);
}

std::string name_in_log(const Options& options) {
  if (!options.name.empty()) return options.name;
  std::array<char, 256> host{};
  return ::gethostname(host.data(), host.size() - 1) == 0 ? host.data() : "kvnode";
}

void notify(LogFile& log, std::string_view state) {
  const Status told = notify_service_manager(state);
  if (!told.ok()) log.write(LogSeverity::kWarning, "kvnode", told.message());
}

int serve(Settings settings) {
  Result<std::unique_ptr<LogFile>> opened =
      LogFile::open({.file = settings.log_file, .node = name_in_log(settings.options)});
  if (!opened.ok()) return fail(opened.status());
  LogFile& log = **opened;
  Signals signals([&log] { log.reopen(); });
  if (const auto warning = raise_descriptor_limit()) log.write(LogSeverity::kWarning, "kvnode", *warning);
  settings.options.log = [&log](LogSeverity severity, std::string_view room, std::string_view message) {
    log.write(severity, room, message);
  };

  std::promise<Status> left;
  settings.options.on_left = [&](const Status& status) {
    left.set_value(status);
    signals.end();
  };
  Result<std::unique_ptr<Db>> db = Db::open(settings.options);
  if (!db.ok()) return fail(db.status());
  signals.serve();
  std::cout << "ready name=" << (*db)->name() << " peer=" << (*db)->peer_address()
            << " client=" << (*db)->client_address() << " epoch=" << (*db)->epoch() << std::endl;
  notify(log, "READY=1");
  signals.wait_for_end();
  notify(log, "STOPPING=1");
  const Status closed = (*db)->close();
  // What was acknowledged is as safe as it was said to be; only the last flush is missing.
  if (!closed.ok()) log.write(LogSeverity::kWarning, "kvnode", closed.message());
  std::future<Status> membership = left.get_future();
  if (membership.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return 0;
  const Status ended = membership.get();
  return ended.ok() ? 0 : fail(ended);
}

int run(int argc, char** argv) {
  const auto parsed = parse_node_flags(argc, argv);
  if (const int* exit_code = std::get_if<int>(&parsed)) return *exit_code;
  const auto& flags = std::get<NodeFlags>(parsed);
  Result<Settings> settings = effective_settings(flags);
  if (!settings.ok()) return fail(settings.status());
  if (flags.print_config) {
    std::cout << to_toml(*settings);
    return 0;
  }
  const Status status = check_start(*settings);
  if (!status.ok()) return fail(status);
  return serve(*std::move(settings));
}

}  // namespace
}  // namespace ringkv::tools

int main(int argc, char** argv) {
  ringkv::tools::hold_standard_descriptors();
  // Large buffers go back to the system when they are freed, instead of raising the size from which it is
  // asked.
  ::mallopt(M_MMAP_THRESHOLD, 256 << 10);
  ::mallopt(M_TRIM_THRESHOLD, 16 << 20);
  return ringkv::tools::run(argc, argv);
}
