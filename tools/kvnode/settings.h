// All that can be set of a kvnode: one table of names, from which the flags, the environment (RINGKV_…) and
// the configuration file are read and --print-config is written.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/options.h"
#include "ringkv/status.h"

namespace ringkv::tools {

struct Settings {
  Options options;
  bool dev = false;
  bool insecure_network = false;
  std::string log_file;  // empty: standard error
};

struct Setting {
  enum class Kind { kText, kNumber, kSwitch };

  std::string name;        // --disk-reserve, RINGKV_DISK_RESERVE, disk-reserve = …
  std::string value_name;  // in --help
  std::string help;
  Kind kind = Kind::kText;
  std::function<Status(Settings&, const std::string&)> set;
  std::function<std::optional<std::string>(const Settings&)> text;  // nothing: not given, and no default
};

const std::vector<Setting>& all_settings();
const Setting* find_setting(std::string_view name);
std::vector<std::string> setting_names();

// Where a value was given, for messages.
struct Given {
  std::string text;
  std::string place;  // "--memory", "RINGKV_MEMORY", "node.toml:3: memory"
};

// By the setting's name. Later sources replace earlier ones: file, environment, flags.
using GivenSettings = std::map<std::string, Given>;

Result<GivenSettings> settings_from_file(const std::string& path);
GivenSettings settings_from_environment();

// Defaults, then those of --dev where it is on, then what was given. Names the place of what is wrong.
Result<Settings> settings_of(const GivenSettings& given);

// As a configuration file that says the same.
std::string to_toml(const Settings& settings);

// What stands against starting with these settings, naming what to do: neither data nor a way to get some, an
// address that others could reach and nobody consented to, or one that others can't find.
Status check_start(const Settings& settings);

}  // namespace ringkv::tools
