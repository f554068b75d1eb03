#include <cmath>
#include <nlohmann/json.hpp>

#include "tools/ringlab/report.h"

namespace ringkv::ringlab {
namespace {

using Json = nlohmann::ordered_json;

struct CellJson {
  Json operator()(const std::string& text) const { return text; }
  Json operator()(uint64_t count) const { return count; }
  // As printed, so that both say the same; JSON has no infinity but as a word.
  Json operator()(const Number& number) const {
    if (std::isinf(number.value)) return to_text(number);
    return std::strtod(to_text(number).c_str(), nullptr);
  }
  Json operator()(const std::vector<uint64_t>& values) const { return values; }
};

Json table_json(const Table& table) {
  Json rows = Json::array();
  for (const std::vector<Cell>& row : table.rows) {
    Json object = Json::object();
    for (size_t i = 0; i < row.size(); ++i) object[table.columns[i]] = std::visit(CellJson(), row[i]);
    rows.push_back(std::move(object));
  }
  return {{"title", table.title}, {"rows", std::move(rows)}, {"notes", table.notes}};
}

}  // namespace

std::string to_json(const Report& report) {
  Json settings = Json::object();
  for (const Setting& setting : report.settings) settings[setting.name] = setting.value;
  Json tables = Json::object();
  for (const Table& table : report.tables) tables[table.name] = table_json(table);
  return Json{{"experiment", report.experiment},
              {"settings", std::move(settings)},
              {"tables", std::move(tables)}}
             .dump() +
         "\n";
}

}  // namespace ringkv::ringlab
