#include "tools/kvctl/table.h"

#include <algorithm>

namespace ringkv::tools {

std::string table(const std::vector<Row>& rows, const std::set<size_t>& right) {
  std::vector<size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - row[i].size(), ' ');
      if (i > 0) text += "  ";
      if (right.contains(i)) {
        text += blanks + row[i];
      } else {
        text += i + 1 < row.size() ? row[i] + blanks : row[i];
      }
    }
    text += '\n';
  }
  return text;
}

std::string listed(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace ringkv::tools
