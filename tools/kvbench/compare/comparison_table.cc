#include "tools/kvbench/compare/comparison_table.h"

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "ringkv/text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::ordered_json;

std::string fixed(double number, int digits) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", digits, number);
  return text;
}

std::optional<double> ratio(const std::optional<Figures>& figures, const std::optional<Figures>& base) {
  if (!figures || !base || base->ops_per_s <= 0) return std::nullopt;
  return figures->ops_per_s / base->ops_per_s;
}

std::string cell(const std::string& text) { return " " + text + " |"; }

// Operations a second, percentiles, ratio: three cells.
std::string cells(const std::optional<Figures>& figures, const std::optional<Figures>& base) {
  if (!figures) return cell("–") + cell("–") + cell("–");
  const auto ms = [](uint64_t microseconds) { return fixed(static_cast<double>(microseconds) / 1000, 2); };
  std::string speed = fixed(figures->ops_per_s, 0);
  if (figures->failed > 0) speed += " (" + std::to_string(figures->failed) + " failed)";
  const std::optional<double> share = ratio(figures, base);
  return cell(speed) + cell(ms(figures->p50_us) + "/" + ms(figures->p99_us)) +
         cell(share ? fixed(*share, 2) : "–");
}

Json json_of(const std::optional<Figures>& figures, const std::optional<Figures>& base) {
  if (!figures) return nullptr;
  const std::optional<double> share = ratio(figures, base);
  return {{"ops_per_s", std::round(figures->ops_per_s * 10) / 10},
          {"p50_us", figures->p50_us},
          {"p99_us", figures->p99_us},
          {"failed", figures->failed},
          {"ratio", share ? Json(std::round(*share * 1000) / 1000) : Json(nullptr)}};
}

}  // namespace

std::string comparison_text(const BenchSettings& settings, const std::vector<Row>& rows) {
  std::string text =
      std::to_string(settings.connections) + " connections, " + std::to_string(settings.depth) +
      " under way on each, values of " + human_bytes(settings.value_bytes) + ", " +
      std::to_string(settings.keys) + " keys, client and nodes on this machine\n\n" +
      "| system | acknowledged means | put/s | p50/p99 ms | x bare | get/s | p50/p99 ms | x bare |\n" +
      "|---|---|---|---|---|---|---|---|\n";
  for (const Row& row : rows) {
    text += "|" + cell(row.system) + cell(row.acknowledged_means) + cells(row.put, rows.front().put) +
            cells(row.get, rows.front().get) + "\n";
  }
  for (const Row& row : rows) {
    if (!row.note.empty()) text += "\n" + row.system + ": " + row.note + "\n";
  }
  return text;
}

std::string comparison_json(const BenchSettings& settings, const std::vector<Row>& rows) {
  Json list = Json::array();
  for (const Row& row : rows) {
    list.push_back({{"system", row.system},
                    {"acknowledged_means", row.acknowledged_means},
                    {"put", json_of(row.put, rows.front().put)},
                    {"get", json_of(row.get, rows.front().get)},
                    {"note", row.note.empty() ? Json(nullptr) : Json(row.note)}});
  }
  const Json json = {{"connections", settings.connections},
                     {"depth", settings.depth},
                     {"value_size", settings.value_bytes},
                     {"keys", settings.keys},
                     {"duration_s", static_cast<double>(settings.duration.count()) / 1000},
                     {"rows", list}};
  return json.dump() + '\n';
}

}  // namespace ringkv::tools
