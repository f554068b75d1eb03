#include "tools/kvbench/flag_kinds.h"

#include <array>
#include <charconv>
#include <functional>
#include <map>

namespace ringkv::tools {
namespace {

// In the order of --help.
const std::vector<std::pair<std::string, Workload>> kWorkloads = {
    {"put", Workload::kPut},      {"get", Workload::kGet},      {"mixed", Workload::kMixed},
    {"ycsb-a", Workload::kYcsbA}, {"ycsb-b", Workload::kYcsbB}, {"ycsb-c", Workload::kYcsbC},
    {"ycsb-d", Workload::kYcsbD}, {"ycsb-f", Workload::kYcsbF}};

const std::map<std::string, Distribution::Kind, std::less<>> kDistributions = {
    {"uniform", Distribution::Kind::kUniform},
    {"zipfian", Distribution::Kind::kZipfian},
    {"latest", Distribution::Kind::kLatest}};

constexpr std::string_view kHotspot = "hotspot:";

Status bad_distribution(std::string_view text) {
  return invalid_argument(
      "'" + std::string(text) +
      "' isn't uniform, zipfian, latest or hotspot:F with F between 0 and 1, like hotspot:0.2");
}

std::string shortest(double number) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), number).ptr;
  return {digits.begin(), end};
}

}  // namespace

std::vector<std::string> workload_names() {
  std::vector<std::string> names;
  for (const auto& [name, workload] : kWorkloads) names.push_back(name);
  return names;
}

std::optional<Workload> workload_named(std::string_view text) {
  for (const auto& [name, workload] : kWorkloads) {
    if (name == text) return workload;
  }
  return std::nullopt;
}

std::string name_of(Workload workload) {
  for (const auto& [name, value] : kWorkloads) {
    if (value == workload) return name;
  }
  return "";
}

Result<Distribution> parse_distribution(std::string_view text) {
  if (const auto at = kDistributions.find(text); at != kDistributions.end())
    return Distribution{.kind = at->second};
  if (!text.starts_with(kHotspot)) return bad_distribution(text);
  const std::string_view digits = text.substr(kHotspot.size());
  double share = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), share);
  if (error != std::errc() || end != digits.data() + digits.size() || !(share >= 0 && share <= 1))
    return bad_distribution(text);
  return Distribution{.kind = Distribution::Kind::kHotspot, .hot_share = share};
}

std::string name_of(const Distribution& distribution) {
  if (distribution.kind == Distribution::Kind::kHotspot)
    return std::string(kHotspot) + shortest(distribution.hot_share);
  for (const auto& [name, kind] : kDistributions) {
    if (kind == distribution.kind) return name;
  }
  return "";
}

Distribution distribution_of(Workload workload) {
  switch (workload) {
    case Workload::kPut:
    case Workload::kGet:
    case Workload::kMixed:
      return {.kind = Distribution::Kind::kUniform};
    case Workload::kYcsbD:
      return {.kind = Distribution::Kind::kLatest};
    case Workload::kYcsbA:
    case Workload::kYcsbB:
    case Workload::kYcsbC:
    case Workload::kYcsbF:
      return {.kind = Distribution::Kind::kZipfian};
  }
  return {};
}

}  // namespace ringkv::tools
