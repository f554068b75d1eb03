#include "tools/simulation/number_ranges.h"

#include <charconv>
#include <optional>
#include <sstream>

#include "base/text.h"
#include "ringkv/text.h"

namespace ringkv::simulation {
namespace {

constexpr uint64_t kRangeMax = 1'000'000;

std::optional<uint64_t> number_from(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

}  // namespace

std::string text_of(const Numbers& numbers) {
  std::string text;
  for (auto first = numbers.begin(); first != numbers.end();) {
    auto next = std::next(first);
    uint64_t last = *first;
    while (next != numbers.end() && *next == last + 1) last = *next++;
    text += cat(text.empty() ? "" : ",", *first);
    if (last > *first) text += cat("-", last);
    first = next;
  }
  return text;
}

Result<Numbers> numbers_from(std::string_view text) {
  Numbers numbers;
  std::istringstream words{std::string(text)};
  for (std::string word; std::getline(words, word, ',');) {
    const size_t dash = word.find('-');
    const std::string_view view = word;
    const auto first = number_from(view.substr(0, dash));
    const auto last = dash == std::string::npos ? first : number_from(view.substr(dash + 1));
    if (!first || !last || *last < *first || *last - *first >= kRangeMax)
      return invalid_argument(cat("'", escaped(word), "' is no number and no range of numbers"));
    for (uint64_t number = *first; number <= *last; ++number) numbers.insert(numbers.end(), number);
  }
  return numbers;
}

}  // namespace ringkv::simulation
