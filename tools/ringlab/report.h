// What an experiment found: tables for people and programs, and charts. One form for all, so that the printed
// text, the JSON and the picture can't disagree.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "tools/ringlab/chart.h"

namespace ringkv::ringlab {

// Text and JSON both have this many digits after the point.
struct Number {
  double value = 0;
  int decimals = 0;
};

// Lists are printed with one blank between values.
using Cell = std::variant<std::string, uint64_t, Number, std::vector<uint64_t>>;

struct Table {
  std::string name;   // in the JSON
  std::string title;  // in the text
  std::vector<std::string> columns;
  std::vector<std::vector<Cell>> rows;
  std::vector<std::string> notes;  // sentences
};

struct Setting {
  std::string name;
  std::string value;
};

struct Report {
  std::string experiment;
  std::vector<Setting> settings;
  std::vector<Table> tables;
  std::vector<Chart> charts;
};

Cell text_cell(std::string text);
Cell count_cell(uint64_t count);
Cell number_cell(double value, int decimals);
Cell list_cell(std::vector<uint64_t> values);

// "12.50", or "infinity".
std::string to_text(const Number& number);

std::string to_text(const Report& report);
std::string to_json(const Report& report);

}  // namespace ringkv::ringlab
