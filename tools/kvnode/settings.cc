#include "tools/kvnode/settings.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tools/kvnode/setting_kinds.h"

namespace ringkv::tools {
namespace {

Setting placer_setting() {
  return choice_setting(
      {.name = "placer",
       .help = "Founding: how partitions find owners (default balanced)",
       .names = {"balanced", "hashed"},
       .get = [](const Settings& settings) -> std::optional<size_t> {
         const std::optional<Placer>& placer = settings.options.placer;
         return placer ? std::optional(static_cast<size_t>(*placer)) : std::nullopt;
       },
       .set = [](Settings& settings, size_t at) { settings.options.placer = static_cast<Placer>(at); }});
}

Setting durability_setting() {
  return choice_setting(
      {.name = "durability",
       .help = "What an acknowledgement stands for (default synced)",
       .names = {"synced", "buffered"},
       .get = [](const Settings& settings) { return static_cast<size_t>(settings.options.durability); },
       .set = [](Settings& settings,
                 size_t at) { settings.options.durability = static_cast<Durability>(at); }});
}

Setting log_setting() {
  return choice_setting(
      {.name = "log",
       .help = "The least that is logged (default info)",
       .names = {"debug", "info", "warning", "error"},
       .get = [](const Settings& settings) { return static_cast<size_t>(settings.options.log_severity); },
       .set = [](Settings& settings,
                 size_t at) { settings.options.log_severity = static_cast<LogSeverity>(at); }});
}

Setting log_file_setting() {
  return {"log-file",
          "FILE",
          "Where the log goes; SIGHUP reopens it (default standard error)",
          Setting::Kind::kText,
          [](Settings& settings, const std::string& text) {
            settings.log_file = text;
            return Status();
          },
          [](const Settings& settings) { return settings.log_file; }};
}

std::string environment_name(const std::string& name) {
  std::string variable = "RINGKV_" + name;
  for (char& c : variable) c = c == '-' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  return variable;
}

Settings default_settings() {
  Settings settings;
  settings.options.peer_address = "127.0.0.1:7400";
  settings.options.client_address = "127.0.0.1:7401";
  return settings;
}

// Of a node that stays alone: nobody has to find it.
Settings dev_settings() {
  Settings settings = default_settings();
  settings.dev = true;
  settings.options.data_directory = "./ringkv-data";
  settings.options.bootstrap = true;
  settings.options.replicas = 1;
  settings.options.peer_address = "";
  return settings;
}

Status set_from(const Setting& setting, const Given& given, Settings& settings) {
  const Status status = setting.set(settings, given.text);
  return status.ok() ? status : invalid_argument(given.place + ": " + status.message());
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = {
      text_setting({"data", "DIR", "The data directory"}, &Options::data_directory),
      text_setting(
          {"name", "NAME", "1 to 64 of A-Z a-z 0-9 . _ -, unique in the cluster (default the host's name)"},
          &Options::name),
      optional_text_setting(
          {"rack", "RACK",
           "First start: copies of a key go to different racks first (default default); "
           "afterwards the ring's holds, another is refused, and kvctl plan rack changes it"},
          &Options::rack),
      optional_number_setting(
          {"weight", "W",
           "First start: share of the ring beside other nodes' (default 1); afterwards as --rack"},
          &Options::weight),
      text_setting(
          {"peer", "HOST:PORT", "Where other nodes are heard; port 0 picks one (default 127.0.0.1:7400)"},
          &Options::peer_address),
      text_setting(
          {"client", "HOST:PORT", "Where clients are served; port 0 picks one (default 127.0.0.1:7401)"},
          &Options::client_address),
      text_setting(
          {"advertise-peer", "HOST:PORT",
           "Where other nodes find this one (default as --peer; needed where that is 0.0.0.0 or [::])"},
          &Options::advertised_peer_address),
      text_setting({"advertise-client", "HOST:PORT", "Where clients find this node (the same for --client)"},
                   &Options::advertised_client_address),
      switch_setting("bootstrap", "First start: found a cluster",
                     [](Settings& settings) -> bool& { return settings.options.bootstrap; }),
      addresses_setting({"join", "HOST:PORT[,HOST:PORT…]",
                         "First start: join the cluster of any of these (peer addresses)"},
                        &Options::join),
      duration_setting(
          {"join-timeout", "DURATION", "How long to try to join while no member says to wait (default 30s)"},
          &Options::join_timeout),
      switch_setting("plan-only",
                     "First start: wait until `kvctl plan join NAME` and `plan commit` take it in",
                     [](Settings& settings) -> bool& { return settings.options.plan_only; }),
      optional_count_setting({"replicas", "N", "Founding: copies of each key (default 3)"},
                             &Options::replicas),
      optional_count_setting(
          {"partitions", "N", "Founding: parts of the ring, a power of two (default 4096)"},
          &Options::partitions),
      placer_setting(),
      durability_setting(),
      bytes_setting({"memory", "BYTES", "Caches and write buffers together (default 256MiB)"},
                    &Options::memory_bytes),
      switch_setting("dev", "A single node to try: one copy, data in ./ringkv-data, no other flag needed",
                     [](Settings& settings) -> bool& { return settings.dev; }),
      bytes_setting({"disk-reserve", "BYTES",
                     "Below this much free disk puts are refused (default 0: 5 %, at most 1 GiB)"},
                    &Options::disk_reserve_bytes),
      bytes_setting({"hint-budget", "BYTES",
                     "What is kept for each member that can't be reached (default 256MiB; 0: nothing)"},
                    &Options::hint_budget_bytes),
      duration_setting(
          {"anti-entropy-interval", "DURATION",
           "How often it compares itself with each other owner (default 10s; 0s: when asked to)"},
          &Options::round_interval),
      duration_setting({"scrub-interval", "DURATION",
                        "How often all data are read and checked (default 168h; 0s: when asked to)"},
                       &Options::scrub_interval),
      duration_setting({"drop-grace", "DURATION",
                        "How long data of partitions that moved away are kept, unreadable, once their owners "
                        "have them (default 10m)"},
                       &Options::drop_grace),
      duration_setting({"auto-remove-after", "DURATION",
                        "A member that a majority can't reach for so long, without a break, leaves by itself "
                        "(default 0s: never)"},
                       &Options::auto_remove_after),
      switch_setting("enable-faults",
                     "For tests: let kvctl fault drop and delay traffic between nodes, and skew clocks",
                     [](Settings& settings) -> bool& { return settings.options.enable_faults; }),
      switch_setting("insecure-network", "Serve on addresses that other machines reach, without encryption",
                     [](Settings& settings) -> bool& { return settings.insecure_network; }),
      log_setting(),
      log_file_setting(),
  };
  return settings;
}

const Setting* find_setting(std::string_view name) {
  const auto& settings = all_settings();
  const auto found = std::find_if(settings.begin(), settings.end(),
                                  [name](const Setting& setting) { return setting.name == name; });
  return found == settings.end() ? nullptr : &*found;
}

std::vector<std::string> setting_names() {
  std::vector<std::string> names;
  for (const Setting& setting : all_settings()) names.push_back(setting.name);
  return names;
}

GivenSettings settings_from_environment() {
  GivenSettings given;
  for (const Setting& setting : all_settings()) {
    const std::string variable = environment_name(setting.name);
    if (const char* text = std::getenv(variable.c_str())) given[setting.name] = {text, variable};
  }
  return given;
}

Result<Settings> settings_of(const GivenSettings& given) {
  Settings asked;
  if (const auto dev = given.find("dev"); dev != given.end()) {
    const Status status = set_from(*find_setting("dev"), dev->second, asked);
    if (!status.ok()) return status;
  }
  Settings settings = asked.dev ? dev_settings() : default_settings();
  for (const auto& [name, value] : given) {
    const Status status = set_from(*find_setting(name), value, settings);
    if (!status.ok()) return status;
  }
  return settings;
}

}  // namespace ringkv::tools
