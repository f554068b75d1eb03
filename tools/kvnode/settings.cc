#include "tools/kvnode/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <utility>

#include "tools/common/units.h"

namespace ringkv::tools {
namespace {

using Kind = Setting::Kind;

template <class T>
Status set_number(T& target, const std::string& text, const char* what) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target);
  if (error == std::errc() && end == text.data() + text.size()) return {};
  return invalid_argument("'" + text + "' isn't " + what);
}

Status set_switch(bool& target, const std::string& text) {
  if (text != "true" && text != "false") return invalid_argument("'" + text + "' is neither true nor false");
  target = text == "true";
  return {};
}

Status set_bytes(uint64_t& target, const std::string& text) {
  const Result<uint64_t> bytes = parse_size(text);
  if (!bytes.ok()) return bytes.status();
  target = *bytes;
  return {};
}

template <class Choice, size_t N>
Status set_choice(Choice& target, const std::string& text,
                  const std::array<std::pair<std::string_view, Choice>, N>& choices) {
  std::string names;
  for (const auto& [name, choice] : choices) {
    if (name == text) {
      target = choice;
      return {};
    }
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return invalid_argument("'" + text + "' isn't one of " + names);
}

template <class Choice, size_t N>
std::string choice_text(Choice choice, const std::array<std::pair<std::string_view, Choice>, N>& choices) {
  for (const auto& [name, value] : choices) {
    if (value == choice) return std::string(name);
  }
  return "";
}

constexpr std::array<std::pair<std::string_view, Placer>, 2> kPlacers = {
    {{"balanced", Placer::kBalanced}, {"hashed", Placer::kHashed}}};
constexpr std::array<std::pair<std::string_view, Durability>, 2> kDurabilities = {
    {{"synced", Durability::kSynced}, {"buffered", Durability::kBuffered}}};
constexpr std::array<std::pair<std::string_view, LogSeverity>, 4> kLogLevels = {
    {{"debug", LogSeverity::kDebug},
     {"info", LogSeverity::kInfo},
     {"warning", LogSeverity::kWarning},
     {"error", LogSeverity::kError}}};

Setting text_setting(std::string name, std::string value_name, std::string help,
                     std::string Options::*field) {
  return {std::move(name),
          std::move(value_name),
          std::move(help),
          Kind::kText,
          [field](Settings& settings, const std::string& text) {
            settings.options.*field = text;
            return Status();
          },
          [field](const Settings& settings) { return settings.options.*field; }};
}

Setting count_setting(std::string name, std::string help, uint32_t Options::*field) {
  return {std::move(name),
          "N",
          std::move(help),
          Kind::kNumber,
          [field](Settings& settings, const std::string& text) {
            return set_number(settings.options.*field, text, "a count");
          },
          [field](const Settings& settings) { return std::to_string(settings.options.*field); }};
}

Setting bytes_setting(std::string name, std::string help, uint64_t Options::*field) {
  return {std::move(name),
          "BYTES",
          std::move(help),
          Kind::kText,
          [field](Settings& settings, const std::string& text) {
            return set_bytes(settings.options.*field, text);
          },
          [field](const Settings& settings) { return size_text(settings.options.*field); }};
}

Setting switch_setting(std::string name, std::string help, const std::function<bool&(Settings&)>& field) {
  return {std::move(name),
          "",
          std::move(help),
          Kind::kSwitch,
          [field](Settings& settings, const std::string& text) { return set_switch(field(settings), text); },
          [field](const Settings& settings) {
            Settings copy = settings;
            return std::string(field(copy) ? "true" : "false");
          }};
}

template <class Choice, size_t N>
Setting choice_setting(std::string name, std::string value_name, std::string help, Choice Options::*field,
                       const std::array<std::pair<std::string_view, Choice>, N>& choices) {
  return {
      std::move(name),
      std::move(value_name),
      std::move(help),
      Kind::kText,
      [field, &choices](Settings& settings, const std::string& text) {
        return set_choice(settings.options.*field, text, choices);
      },
      [field, &choices](const Settings& settings) { return choice_text(settings.options.*field, choices); }};
}

Setting weight_setting() {
  return {"weight",
          "W",
          "Share of the ring beside other nodes' (default 1)",
          Kind::kNumber,
          [](Settings& settings, const std::string& text) {
            return set_number(settings.options.weight, text, "a number");
          },
          [](const Settings& settings) {
            std::array<char, 32> digits{};
            const auto end =
                std::to_chars(digits.data(), digits.data() + digits.size(), settings.options.weight).ptr;
            return std::string(digits.data(), end);
          }};
}

Setting log_file_setting() {
  return {"log-file",
          "FILE",
          "Where the log goes; SIGHUP reopens it (default standard error)",
          Kind::kText,
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

Settings dev_settings() {
  Settings settings;
  settings.dev = true;
  settings.options.data_directory = "./ringkv-data";
  settings.options.bootstrap = true;
  settings.options.replicas = 1;
  return settings;
}

Status set_from(const Setting& setting, const Given& given, Settings& settings) {
  const Status status = setting.set(settings, given.text);
  return status.ok() ? status : invalid_argument(given.place + ": " + status.message());
}

}  // namespace

const std::vector<Setting>& all_settings() {
  static const std::vector<Setting> settings = {
      text_setting("data", "DIR", "The data directory", &Options::data_directory),
      text_setting("name", "NAME",
                   "1 to 64 of A-Z a-z 0-9 . _ -, unique in the cluster (default the host's name)",
                   &Options::name),
      text_setting("rack", "RACK", "Copies of a key go to different racks first", &Options::rack),
      weight_setting(),
      text_setting("client", "HOST:PORT",
                   "Where clients are served; port 0 picks one (default 127.0.0.1:7401)",
                   &Options::client_address),
      switch_setting("bootstrap", "First start: found a cluster",
                     [](Settings& settings) -> bool& { return settings.options.bootstrap; }),
      count_setting("replicas", "Founding: copies of each key (default 3)", &Options::replicas),
      count_setting("partitions", "Founding: parts of the ring, a power of two (default 4096)",
                    &Options::partitions),
      choice_setting("placer", "balanced|hashed", "Founding: how partitions find owners (default balanced)",
                     &Options::placer, kPlacers),
      choice_setting("durability", "synced|buffered", "What an acknowledgement stands for (default synced)",
                     &Options::durability, kDurabilities),
      bytes_setting("memory", "Caches and write buffers together (default 256MiB)", &Options::memory_bytes),
      switch_setting("dev", "A single node to try: one copy, data in ./ringkv-data, no other flag needed",
                     [](Settings& settings) -> bool& { return settings.dev; }),
      bytes_setting("disk-reserve",
                    "Below this much free disk puts are refused (default 0: 5 %, at most 1 GiB)",
                    &Options::disk_reserve_bytes),
      switch_setting("insecure-network", "Serve on addresses that other machines reach, without encryption",
                     [](Settings& settings) -> bool& { return settings.insecure_network; }),
      choice_setting("log", "debug|info|warning|error", "The least that is logged (default info)",
                     &Options::log_severity, kLogLevels),
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
  Settings settings = asked.dev ? dev_settings() : Settings();
  settings.options.client_address = "127.0.0.1:7401";
  for (const auto& [name, value] : given) {
    const Status status = set_from(*find_setting(name), value, settings);
    if (!status.ok()) return status;
  }
  return settings;
}

}  // namespace ringkv::tools
