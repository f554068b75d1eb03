#include <toml++/toml.h>

#include <sstream>

#include "ringkv/text.h"
#include "tools/kvnode/settings.h"

namespace ringkv::tools {
namespace {

// A scalar as it would be typed after a flag; nothing for tables, lists and dates.
std::optional<std::string> scalar_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (node.is_integer() || node.is_floating_point() || node.is_boolean()) {
    std::ostringstream out;
    out << std::boolalpha;
    node.visit([&out](const auto& value) {
      if constexpr (toml::is_integer<decltype(value)> || toml::is_floating_point<decltype(value)> ||
                    toml::is_boolean<decltype(value)>) {
        out << value.get();
      }
    });
    return out.str();
  }
  return std::nullopt;
}

Result<GivenSettings> settings_of_table(const std::string& path, const toml::table& table) {
  GivenSettings given;
  for (const auto& [key, node] : table) {
    const std::string name(key.str());
    const std::string place = path + ":" + std::to_string(key.source().begin.line) + ": " + name;
    if (find_setting(name) == nullptr) {
      const auto meant = nearest(name, setting_names());
      return invalid_argument(place + ": no such setting" + (meant ? "; did you mean " + *meant + "?" : ""));
    }
    std::optional<std::string> text = scalar_text(node);
    if (!text) return invalid_argument(place + ": must be a text, a number, true or false");
    given[name] = {*std::move(text), place};
  }
  return given;
}

std::string quoted(const std::string& text) {
  std::ostringstream out;
  out << toml::value<std::string>(text);
  return out.str();
}

}  // namespace

Result<GivenSettings> settings_from_file(const std::string& path) {
  try {
    return settings_of_table(path, toml::parse_file(path));
  } catch (const toml::parse_error& error) {
    const uint32_t line = error.source().begin.line;
    return invalid_argument(path + (line > 0 ? ":" + std::to_string(line) : "") + ": " +
                            std::string(error.description()));
  }
}

std::string to_toml(const Settings& settings) {
  std::string text;
  for (const Setting& setting : all_settings()) {
    const std::optional<std::string> value = setting.text(settings);
    if (!value) {
      text += "# " + setting.name + ": not given\n";
      continue;
    }
    text += setting.name + " = " + (setting.kind == Setting::Kind::kText ? quoted(*value) : *value) + '\n';
  }
  return text;
}

}  // namespace ringkv::tools
