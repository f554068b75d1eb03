#include "tools/ringlab/svg.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/text.h"
#include "tools/ringlab/axis.h"
#include "tools/ringlab/canvas.h"

namespace ringkv::ringlab {
namespace {

using Anchor = Canvas::Anchor;

constexpr double kWidth = 880;
constexpr double kMargin = 24;
constexpr double kPlotLeft = 92;
constexpr double kPlotHeight = 280;
constexpr double kLegendLine = 20;
constexpr double kTurnedLabels = 120;  // height that slanting labels take

struct LegendEntry {
  std::string name;
  size_t colour = 0;
  bool dashed = false;
  bool reference = false;
};

// Entries side by side, on as many lines as they need; returns where the next thing may begin.
double draw_legend(Canvas& canvas, double top, const std::vector<LegendEntry>& entries) {
  Point at{kPlotLeft, top};
  for (const LegendEntry& entry : entries) {
    const double width = 30 + Canvas::text_width(entry.name) + 18;
    if (at.x > kPlotLeft && at.x + width > kWidth - kMargin) at = {kPlotLeft, at.y + kLegendLine};
    const Point end{at.x + 22, at.y};
    if (entry.reference) {
      canvas.line(at, end, "reference");
    } else if (entry.dashed) {
      canvas.polyline(
          cat(coordinate(at.x), ",", coordinate(at.y), " ", coordinate(end.x), ",", coordinate(at.y)),
          entry.colour, true);
    } else {
      canvas.bar({at.x, at.y - 6, 22, 12}, entry.colour, entry.name);
    }
    canvas.text({at.x + 30, at.y + 4}, entry.name, Anchor::kStart);
    at.x += width;
  }
  return at.y + kLegendLine;
}

void draw_y_axis(Canvas& canvas, const Box& plot, const Axis& axis, const std::string& label) {
  for (const double mark : axis.marks()) {
    const double y = plot.bottom() - axis.part(mark) * plot.height;
    canvas.line({plot.left, y}, {plot.right(), y}, "grid");
    canvas.text({plot.left - 8, y + 4}, mark_text(mark), Anchor::kEnd);
  }
  canvas.line({plot.left, plot.top}, {plot.left, plot.bottom()}, "axis");
  canvas.turned_text({kMargin + 4, plot.top + plot.height / 2}, -90, label, Anchor::kMiddle);
}

void draw_x_axis(Canvas& canvas, const Box& plot, const std::string& label, double labels_height) {
  canvas.line({plot.left, plot.bottom()}, {plot.right(), plot.bottom()}, "axis");
  canvas.text({plot.left + plot.width / 2, plot.bottom() + labels_height + 18}, label, Anchor::kMiddle);
}

// Title and legend; returns the plot below them.
Box begin_plot(Canvas& canvas, double top, const std::string& title, const std::vector<LegendEntry>& legend) {
  canvas.text({kPlotLeft, top + 16}, title, Anchor::kStart, "title");
  const double plot_top = draw_legend(canvas, top + 38, legend);
  return {kPlotLeft, plot_top, kWidth - kMargin - kPlotLeft, kPlotHeight};
}

// --- bars

double greatest_bar(const BarChart& chart) {
  double greatest = chart.reference ? chart.reference->value : 0;
  for (const BarChart::Series& series : chart.series) {
    for (const double value : series.values)
      greatest = std::isfinite(value) ? std::max(greatest, value) : greatest;
  }
  return greatest;
}

// Labels slant where they would run into each other; of very many only some are shown.
double draw_categories(Canvas& canvas, const Box& plot, const std::vector<std::string>& categories) {
  double widest = 0;
  for (const std::string& category : categories) widest = std::max(widest, Canvas::text_width(category));
  const double slot = plot.width / static_cast<double>(categories.size());
  const bool few = categories.size() <= 24;
  const bool slanting = few && widest + 6 > slot;
  const auto every = few ? size_t{1} : static_cast<size_t>(std::ceil((widest + 12) / slot));
  for (size_t i = 0; i < categories.size(); i += every) {
    const double x = plot.left + slot * (static_cast<double>(i) + 0.5);
    if (slanting) {
      canvas.turned_text({x + 4, plot.bottom() + 14}, -35, categories[i], Anchor::kEnd);
    } else {
      canvas.text({x, plot.bottom() + 18}, categories[i], Anchor::kMiddle);
    }
  }
  return slanting ? std::min(kTurnedLabels, 0.58 * widest + 16) : 20;
}

double draw(Canvas& canvas, double top, const BarChart& chart) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < chart.series.size(); ++i) legend.push_back({chart.series[i].name, i});
  if (chart.reference) legend.push_back({.name = chart.reference->name, .reference = true});
  const Box plot = begin_plot(canvas, top, chart.title, legend);
  const Axis axis = Axis::linear(greatest_bar(chart));
  draw_y_axis(canvas, plot, axis, chart.y_label);
  const double slot = plot.width / static_cast<double>(chart.categories.size());
  const double gap = slot > 6 ? 0.2 * slot : 0;
  const double width = (slot - gap) / static_cast<double>(chart.series.size());
  for (size_t i = 0; i < chart.categories.size(); ++i) {
    for (size_t s = 0; s < chart.series.size(); ++s) {
      const double value = chart.series[s].values[i];
      const double height = plot.height * axis.part(std::isfinite(value) ? value : axis.marks().back());
      const double left =
          plot.left + slot * static_cast<double>(i) + gap / 2 + width * static_cast<double>(s);
      canvas.bar({left, plot.bottom() - height, width * (slot > 6 ? 0.94 : 1), height}, s,
                 cat(chart.categories[i], ", ", chart.series[s].name, ": ", value));
    }
  }
  if (chart.reference) {
    const double y = plot.bottom() - axis.part(chart.reference->value) * plot.height;
    canvas.line({plot.left, y}, {plot.right(), y}, "reference");
  }
  const double labels = draw_categories(canvas, plot, chart.categories);
  draw_x_axis(canvas, plot, chart.x_label, labels);
  return plot.bottom() + labels + 30;
}

// --- lines

// What one axis of a chart shows.
struct Extent {
  bool logarithmic = false;
  double least = INFINITY;
  double greatest = 0;

  bool shows(double value) const { return std::isfinite(value) && (value > 0 || !logarithmic); }
  void add(double value) {
    if (!shows(value)) return;
    least = std::min(least, value);
    greatest = std::max(greatest, value);
  }
  Axis axis() const {
    if (!logarithmic) return Axis::linear(greatest);
    return greatest > 0 ? Axis::logarithmic(least, greatest) : Axis::logarithmic(1, 10);
  }
};

std::vector<size_t> colours_of(const LineChart& chart) {
  std::vector<size_t> colours;
  size_t next = 0;
  for (const LineChart::Series& series : chart.series) {
    if (series.theory) {
      colours.push_back(next == 0 ? kInk : next - 1);
    } else {
      colours.push_back(next++);
    }
  }
  return colours;
}

double draw(Canvas& canvas, double top, const LineChart& chart) {
  const std::vector<size_t> colours = colours_of(chart);
  std::vector<LegendEntry> legend;
  Extent x_extent{.logarithmic = chart.log_x};
  Extent y_extent{.logarithmic = chart.log_y};
  for (size_t i = 0; i < chart.series.size(); ++i) {
    legend.push_back({.name = chart.series[i].name, .colour = colours[i], .dashed = chart.series[i].theory});
    for (const auto& [x, y] : chart.series[i].points) {
      x_extent.add(x);
      y_extent.add(y);
    }
  }
  const Axis x_axis = x_extent.axis();
  const Axis y_axis = y_extent.axis();
  const Box plot = begin_plot(canvas, top, chart.title, legend);
  draw_y_axis(canvas, plot, y_axis, chart.y_label);
  for (const double mark : x_axis.marks()) {
    const double x = plot.left + x_axis.part(mark) * plot.width;
    canvas.line({x, plot.top}, {x, plot.bottom()}, "grid");
    canvas.text({x, plot.bottom() + 18}, mark_text(mark), Anchor::kMiddle);
  }
  for (size_t i = 0; i < chart.series.size(); ++i) {
    std::string points;
    for (const auto& [x, y] : chart.series[i].points) {
      if (!x_extent.shows(x) || !y_extent.shows(y)) continue;
      const Point at{plot.left + x_axis.part(x) * plot.width, plot.bottom() - y_axis.part(y) * plot.height};
      points += cat(points.empty() ? "" : " ", coordinate(at.x), ",", coordinate(at.y));
      if (!chart.series[i].theory && chart.series[i].points.size() <= 30) canvas.dot(at, colours[i]);
    }
    canvas.polyline(points, colours[i], chart.series[i].theory);
  }
  draw_x_axis(canvas, plot, chart.x_label, 20);
  return plot.bottom() + 50;
}

// --- rings

void draw_circle(Canvas& canvas, Point centre, double radius, const RingChart& chart,
                 const RingChart::Circle& circle) {
  for (const RingChart::Arc& arc : circle.arcs) {
    const double span = arc.end > arc.begin ? arc.end - arc.begin : 1 + arc.end - arc.begin;
    const double from = 2 * std::numbers::pi * arc.begin;
    canvas.sector({.centre = centre,
                   .inner = 0.68 * radius,
                   .outer = radius,
                   .from = from,
                   .to = from + 2 * std::numbers::pi * span},
                  arc.node, cat(chart.nodes[arc.node], ": ", mark_text(100 * span), " % of the circle"));
  }
  canvas.text({centre.x, centre.y + 4}, circle.title, Anchor::kMiddle);
}

double draw(Canvas& canvas, double top, const RingChart& chart) {
  std::vector<LegendEntry> legend;
  for (size_t i = 0; i < chart.nodes.size(); ++i) legend.push_back({chart.nodes[i], i});
  const Box plot = begin_plot(canvas, top, chart.title, legend);
  const double slot = (kWidth - 2 * kMargin) / static_cast<double>(chart.circles.size());
  const double radius = std::min(slot / 2 - 12, 150.0);
  for (size_t i = 0; i < chart.circles.size(); ++i) {
    const Point centre{kMargin + slot * (static_cast<double>(i) + 0.5), plot.top + radius + 4};
    draw_circle(canvas, centre, radius, chart, chart.circles[i]);
  }
  return plot.top + 2 * radius + 16;
}

}  // namespace

std::string to_svg(const std::vector<Chart>& charts) {
  Canvas canvas;
  double bottom = kMargin;
  for (const Chart& chart : charts)
    bottom = std::visit([&](const auto& one) { return draw(canvas, bottom, one); }, chart) + kMargin;
  return canvas.document(kWidth, std::ceil(bottom));
}

}  // namespace ringkv::ringlab
