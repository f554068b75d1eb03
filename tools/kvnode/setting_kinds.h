// The kinds of settings there are: how each is read from text and written as text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/kvnode/settings.h"

namespace ringkv::tools {

// What --help says.
struct SettingWords {
  std::string name;
  std::string value_name;
  std::string help;
};

Setting text_setting(SettingWords words, std::string Options::*field);
Setting bytes_setting(SettingWords words, uint64_t Options::*field);
Setting duration_setting(SettingWords words, std::chrono::milliseconds Options::*field);
Setting addresses_setting(SettingWords words, std::vector<std::string> Options::*field);  // HOST:PORT[,…]
// One that was never given differs from any that was.
Setting optional_text_setting(SettingWords words, std::optional<std::string> Options::*field);
Setting optional_number_setting(SettingWords words, std::optional<double> Options::*field);
Setting optional_count_setting(SettingWords words, std::optional<uint32_t> Options::*field);
Setting switch_setting(std::string name, std::string help, const std::function<bool&(Settings&)>& field);

// One of `names`; the value name in --help is all of them. `get` and `set` go by position; nothing: not
// given.
struct Choice {
  std::string name;
  std::string help;
  std::vector<std::string> names;
  std::function<std::optional<size_t>(const Settings&)> get;
  std::function<void(Settings&, size_t)> set;
};
Setting choice_setting(const Choice& choice);

}  // namespace ringkv::tools
