// Text in columns and in lists.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace ringkv::tools {

using Row = std::vector<std::string>;

// Columns separated by two blanks, each as wide as its widest cell; those in `right`, numbers, end under each
// other.
std::string table(const std::vector<Row>& rows, const std::set<size_t>& right = {});

// "a, b, c"; "none".
std::string listed(const std::vector<std::string>& words);

}  // namespace ringkv::tools
