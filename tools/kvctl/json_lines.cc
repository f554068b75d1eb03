#include "tools/kvctl/json_lines.h"

#include <nlohmann/json.hpp>

#include "ringkv/text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::json;

Result<std::string> bytes_of(const Json& value, const std::string& field) {
  if (!value.is_string()) return invalid_argument(field + " isn't a string");
  std::optional<std::string> bytes = from_base64(value.get_ref<const std::string&>());
  if (!bytes) return invalid_argument(field + " isn't base64");
  return *std::move(bytes);
}

Result<std::vector<std::string>> values_of(const Json& line) {
  const auto value = line.find("value_b64");
  const auto siblings = line.find("siblings_b64");
  if ((value == line.end()) == (siblings == line.end()))
    return invalid_argument("needs value_b64 or siblings_b64, one of them");
  if (value != line.end()) {
    Result<std::string> bytes = bytes_of(*value, "value_b64");
    if (!bytes.ok()) return bytes.status();
    return std::vector<std::string>{*std::move(bytes)};
  }
  if (!siblings->is_array() || siblings->empty())
    return invalid_argument("siblings_b64 isn't a list of values");
  std::vector<std::string> values;
  for (const Json& sibling : *siblings) {
    Result<std::string> bytes = bytes_of(sibling, "siblings_b64");
    if (!bytes.ok()) return bytes.status();
    values.push_back(*std::move(bytes));
  }
  return values;
}

}  // namespace

Result<LoadEntry> parse_load_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return invalid_argument("isn't a JSON object");
  const auto key = json.find("key_b64");
  if (key == json.end()) return invalid_argument("key_b64 is missing");
  Result<std::string> key_bytes = bytes_of(*key, "key_b64");
  if (!key_bytes.ok()) return key_bytes.status();
  Result<std::vector<std::string>> values = values_of(json);
  if (!values.ok()) return values.status();
  return LoadEntry{*std::move(key_bytes), *std::move(values)};
}

}  // namespace ringkv::tools
