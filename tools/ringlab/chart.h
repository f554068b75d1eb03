// Pictures of a report, as data; svg.h draws them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace ringkv::ringlab {

struct Reference {
  std::string name;
  double value = 0;
};

// Groups of bars: each category has a bar of each series.
struct BarChart {
  struct Series {
    std::string name;
    std::vector<double> values;  // by category
  };

  std::string title;
  std::string x_label;
  std::string y_label;  // with the unit
  std::vector<std::string> categories;
  std::vector<Series> series;
  std::optional<Reference> reference;  // a line across: the fair share, a target
};

struct LineChart {
  struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points;
    // Dashed, without marks, in the colour of the series before it; the first series in the text's colour.
    bool theory = false;
  };

  std::string title;
  std::string x_label;
  std::string y_label;
  bool log_x = false;  // only with values above 0, likewise y
  bool log_y = false;
  std::vector<Series> series;
};

// Circles side by side, cut into arcs by owner.
struct RingChart {
  struct Arc {
    double begin = 0;  // part of the circle, clockwise from the top; `begin` may be greater: across the top
    double end = 0;
    uint32_t node = 0;
  };

  struct Circle {
    std::string title;
    std::vector<Arc> arcs;
  };

  std::string title;
  std::vector<std::string> nodes;
  std::vector<Circle> circles;
};

using Chart = std::variant<BarChart, LineChart, RingChart>;

}  // namespace ringkv::ringlab
