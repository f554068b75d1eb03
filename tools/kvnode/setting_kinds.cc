#include "tools/kvnode/setting_kinds.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>
#include <utility>

#include "tools/common/units.h"

namespace ringkv::tools {
namespace {

using Kind = Setting::Kind;

template <class T>
Result<T> number_of(const std::string& text, const char* what) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  return invalid_argument("'" + text + "' isn't " + what);
}

// What was read goes into the field, else the field stays as it is.
template <class T, class Target>
Status take(const Result<T>& read, Target& target) {
  if (read.ok()) target = *read;
  return read.status();
}

Result<bool> switch_of(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  return invalid_argument("'" + text + "' is neither true nor false");
}

Result<std::vector<std::string>> addresses_of(const std::string& text) {
  std::vector<std::string> addresses;
  std::istringstream list(text);
  for (std::string address; std::getline(list, address, ',');) {
    const Result<HostPort> parsed = parse_address(address);
    if (!parsed.ok()) return parsed.status();
    if (parsed->port == 0) return invalid_argument("'" + address + "': nobody is reached at port 0");
    addresses.push_back(address);
  }
  return addresses;
}

std::string joined(const std::vector<std::string>& parts, char between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : std::string(1, between)) + part;
  return text;
}

std::string decimal(double number) {
  std::array<char, 32> digits{};
  return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr};
}

Setting setting(SettingWords words, Kind kind, std::function<Status(Settings&, const std::string&)> set,
                std::function<std::optional<std::string>(const Settings&)> text) {
  return {std::move(words.name), std::move(words.value_name), std::move(words.help), kind, std::move(set),
          std::move(text)};
}

template <class Number>
Setting optional_setting(SettingWords words, std::optional<Number> Options::*field, const char* what,
                         std::string (*text_of)(Number)) {
  return setting(
      std::move(words), Kind::kNumber,
      [field, what](Settings& settings, const std::string& text) {
        return take(number_of<Number>(text, what), settings.options.*field);
      },
      [field, text_of](const Settings& settings) -> std::optional<std::string> {
        const std::optional<Number>& number = settings.options.*field;
        return number ? std::optional(text_of(*number)) : std::nullopt;
      });
}

}  // namespace

Setting text_setting(SettingWords words, std::string Options::*field) {
  return setting(
      std::move(words), Kind::kText,
      [field](Settings& settings, const std::string& text) {
        settings.options.*field = text;
        return Status();
      },
      [field](const Settings& settings) { return settings.options.*field; });
}

Setting bytes_setting(SettingWords words, uint64_t Options::*field) {
  return setting(
      std::move(words), Kind::kText,
      [field](Settings& settings, const std::string& text) {
        return take(parse_size(text), settings.options.*field);
      },
      [field](const Settings& settings) { return size_text(settings.options.*field); });
}

Setting duration_setting(SettingWords words, std::chrono::milliseconds Options::*field) {
  return setting(
      std::move(words), Kind::kText,
      [field](Settings& settings, const std::string& text) {
        return take(parse_duration(text), settings.options.*field);
      },
      [field](const Settings& settings) { return duration_text(settings.options.*field); });
}

Setting addresses_setting(SettingWords words, std::vector<std::string> Options::*field) {
  return setting(
      std::move(words), Kind::kText,
      [field](Settings& settings, const std::string& text) {
        return take(addresses_of(text), settings.options.*field);
      },
      [field](const Settings& settings) { return joined(settings.options.*field, ','); });
}

Setting optional_text_setting(SettingWords words, std::optional<std::string> Options::*field) {
  return setting(
      std::move(words), Kind::kText,
      [field](Settings& settings, const std::string& text) {
        settings.options.*field = text;
        return Status();
      },
      [field](const Settings& settings) { return settings.options.*field; });
}

Setting optional_number_setting(SettingWords words, std::optional<double> Options::*field) {
  return optional_setting<double>(std::move(words), field, "a number",
                                  [](double number) { return decimal(number); });
}

Setting optional_count_setting(SettingWords words, std::optional<uint32_t> Options::*field) {
  return optional_setting<uint32_t>(std::move(words), field, "a count",
                                    [](uint32_t count) { return std::to_string(count); });
}

Setting switch_setting(std::string name, std::string help, const std::function<bool&(Settings&)>& field) {
  return setting(
      {std::move(name), "", std::move(help)}, Kind::kSwitch,
      [field](Settings& settings, const std::string& text) { return take(switch_of(text), field(settings)); },
      [field](const Settings& settings) {
        Settings copy = settings;
        return field(copy) ? "true" : "false";
      });
}

Setting choice_setting(const Choice& choice) {
  SettingWords words{choice.name, joined(choice.names, '|'), choice.help};
  return setting(
      std::move(words), Kind::kText,
      [choice](Settings& settings, const std::string& text) -> Status {
        const auto found = std::find(choice.names.begin(), choice.names.end(), text);
        if (found == choice.names.end())
          return invalid_argument("'" + text + "' isn't one of " + joined(choice.names, ' '));
        choice.set(settings, static_cast<size_t>(found - choice.names.begin()));
        return {};
      },
      [choice](const Settings& settings) -> std::optional<std::string> {
        const std::optional<size_t> at = choice.get(settings);
        return at ? std::optional(choice.names[*at]) : std::nullopt;
      });
}

}  // namespace ringkv::tools
