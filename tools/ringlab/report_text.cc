#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "tools/ringlab/report.h"

namespace ringkv::ringlab {
namespace {

struct CellText {
  std::string operator()(const std::string& text) const { return text; }
  std::string operator()(uint64_t count) const { return std::to_string(count); }
  std::string operator()(const Number& number) const { return to_text(number); }
  std::string operator()(const std::vector<uint64_t>& values) const {
    std::string text;
    for (const uint64_t value : values) text += (text.empty() ? "" : " ") + std::to_string(value);
    return text;
  }
};

bool is_text(const Cell& cell) { return cell.index() == 0 || cell.index() == 3; }

std::string padded(const std::string& text, size_t width, bool left) {
  const std::string blanks(width > text.size() ? width - text.size() : 0, ' ');
  return left ? text + blanks : blanks + text;
}

// Columns are as wide as their widest cell, two blanks apart; text to the left, numbers to the right.
void add_table(std::ostringstream& out, const Table& table) {
  std::vector<std::vector<std::string>> lines = {table.columns};
  for (const std::vector<Cell>& row : table.rows) {
    lines.emplace_back();
    for (const Cell& cell : row) lines.back().push_back(std::visit(CellText(), cell));
  }
  std::vector<size_t> widths(table.columns.size(), 0);
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  out << '\n' << table.title << '\n';
  for (const auto& line : lines) {
    std::string text;
    for (size_t i = 0; i < line.size(); ++i) {
      const bool left = !table.rows.empty() && is_text(table.rows.front()[i]);
      text += (i == 0 ? "" : "  ") + padded(line[i], widths[i], left);
    }
    out << text.substr(0, text.find_last_not_of(' ') + 1) << '\n';
  }
  for (const std::string& note : table.notes) out << note << '\n';
}

}  // namespace

Cell text_cell(std::string text) { return text; }
Cell count_cell(uint64_t count) { return count; }
Cell number_cell(double value, int decimals) { return Number{value, decimals}; }
Cell list_cell(std::vector<uint64_t> values) { return values; }

std::string to_text(const Number& number) {
  if (std::isinf(number.value)) return "infinity";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", number.decimals, number.value);
  return text;
}

std::string to_text(const Report& report) {
  std::ostringstream out;
  out << report.experiment << ':';
  for (size_t i = 0; i < report.settings.size(); ++i)
    out << (i == 0 ? " " : ", ") << report.settings[i].name << ' ' << report.settings[i].value;
  out << '\n';
  for (const Table& table : report.tables) add_table(out, table);
  return std::move(out).str();
}

}  // namespace ringkv::ringlab
