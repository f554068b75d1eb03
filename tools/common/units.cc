#include "tools/common/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <string>

namespace ringkv::tools {
namespace {

struct Unit {
  std::string_view name;
  uint64_t factor;
};

constexpr std::array<Unit, 5> kDurations = {
    {{"d", 86'400'000}, {"h", 3'600'000}, {"m", 60'000}, {"s", 1'000}, {"ms", 1}}};
constexpr uint64_t kKibi = 1024;
constexpr std::array<Unit, 10> kSizes = {{{"TiB", kKibi* kKibi* kKibi* kKibi},
                                          {"GiB", kKibi* kKibi* kKibi},
                                          {"MiB", kKibi* kKibi},
                                          {"KiB", kKibi},
                                          {"TB", 1'000'000'000'000},
                                          {"GB", 1'000'000'000},
                                          {"MB", 1'000'000},
                                          {"KB", 1'000},
                                          {"B", 1},
                                          {"", 1}}};
constexpr double kAmountMax = 9e15;  // below 2^53: a double holds it exactly

// A number of units, in the smallest unit; nothing when it isn't one.
template <size_t N>
std::optional<uint64_t> parse_amount(std::string_view text, const std::array<Unit, N>& units) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !(number >= 0)) return std::nullopt;
  const std::string_view name = text.substr(static_cast<size_t>(end - text.data()));
  for (const Unit& unit : units) {
    if (unit.name != name) continue;
    const double amount = std::round(number * static_cast<double>(unit.factor));
    if (amount > kAmountMax) return std::nullopt;
    return static_cast<uint64_t>(amount);
  }
  return std::nullopt;
}

// `units` from the largest to the smallest.
template <size_t N>
std::string amount_text(uint64_t amount, const std::array<Unit, N>& units) {
  for (const Unit& unit : units) {
    if (amount >= unit.factor && amount % unit.factor == 0)
      return std::to_string(amount / unit.factor) + std::string(unit.name);
  }
  return "0" + std::string(units.back().name);
}

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  const std::optional<uint64_t> amount = parse_amount(text, kDurations);
  if (!amount)
    return invalid_argument("'" + std::string(text) + "' isn't a duration like 500ms, 5s, 1m or 2h");
  return std::chrono::milliseconds(*amount);
}

std::string duration_text(std::chrono::milliseconds duration) {
  return amount_text(static_cast<uint64_t>(duration.count()), kDurations);
}

Result<uint64_t> parse_size(std::string_view text) {
  const std::optional<uint64_t> amount = parse_amount(text, kSizes);
  if (!amount)
    return invalid_argument("'" + std::string(text) + "' isn't a size like 4096, 64KiB, 256MiB or 1GiB");
  return *amount;
}

std::string size_text(uint64_t bytes) {
  constexpr std::array<Unit, 5> kExact = {{kSizes[0], kSizes[1], kSizes[2], kSizes[3], {"", 1}}};
  return amount_text(bytes, kExact);
}

std::string counted(uint64_t count, std::string_view noun) {
  return std::to_string(count) + ' ' + std::string(noun) + (count == 1 ? "" : "s");
}

Result<HostPort> parse_address(std::string_view text) {
  const Status refused =
      invalid_argument("'" + std::string(text) + "' isn't HOST:PORT, like 127.0.0.1:7401 or [::1]:7401");
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return refused;
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of("[]:") != std::string_view::npos) {
    return refused;
  }
  uint16_t port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (host.empty() || error != std::errc() || end != digits.data() + digits.size()) return refused;
  return HostPort{std::string(host), port};
}

}  // namespace ringkv::tools
