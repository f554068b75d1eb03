// The few shapes that charts are made of, as SVG text. Coordinates are pixels from the left top.
#pragma once

#include <sstream>
#include <string>
#include <string_view>

namespace ringkv::ringlab {

struct Point {
  double x = 0;
  double y = 0;
};

struct Box {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

// How many colours series have before they come again.
inline constexpr size_t kColours = 10;

// The text's own colour, for lines that belong to no series.
inline constexpr size_t kInk = 1000;

class Canvas {
 public:
  enum class Anchor { kStart, kMiddle, kEnd };

  // Roughly: no font is at hand to measure.
  static double text_width(std::string_view text) { return 6.6 * static_cast<double>(text.size()); }

  void text(Point at, std::string_view text, Anchor anchor, std::string_view style = "label");
  // Turned by `degrees` around `at`.
  void turned_text(Point at, double degrees, std::string_view text, Anchor anchor);
  void line(Point from, Point to, std::string_view style);
  void dot(Point at, size_t colour);
  // The tooltip is shown where the reader's program shows one.
  void bar(const Box& box, size_t colour, std::string_view tooltip);
  void polyline(const std::string& points, size_t colour, bool dashed);
  // Part of a ring around `centre`, from one angle to a later one, in radians clockwise from the top.
  struct Sector {
    Point centre;
    double inner = 0;
    double outer = 0;
    double from = 0;
    double to = 0;
  };
  void sector(const Sector& sector, size_t colour, std::string_view tooltip);

  // The whole file.
  std::string document(double width, double height) const;

 private:
  std::ostringstream body_;
};

// Two digits after the point at most.
std::string coordinate(double value);

}  // namespace ringkv::ringlab
