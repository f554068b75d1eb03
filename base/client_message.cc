#include "base/client_message.h"

#include <charconv>

#include "base/text.h"

namespace ringkv {

std::string to_text(const OperationName& name) {
  return hex(name.operation.client) + '.' + std::to_string(name.operation.sequence) + '@' +
         hex(name.boot.value);
}

std::optional<OperationName> operation_name_from(std::string_view text) {
  const size_t dot = text.find('.');
  const size_t at = text.find('@');
  if (dot == std::string_view::npos || at == std::string_view::npos || at < dot) return std::nullopt;

  const std::optional<uint64_t> client = from_hex(text.substr(0, dot));
  const std::optional<uint64_t> boot = from_hex(text.substr(at + 1));
  const std::string_view digits = text.substr(dot + 1, at - dot - 1);
  uint64_t sequence = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), sequence);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (!client || !boot) return std::nullopt;

  const OperationName name{{*client, sequence}, {*boot}};
  if (!name.operation || !name.boot) return std::nullopt;
  return name;
}

}  // namespace ringkv
