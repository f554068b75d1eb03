#include "tools/ringlab/canvas.h"

#include <cmath>
#include <cstdio>
#include <numbers>

#include "base/text.h"

namespace ringkv::ringlab {
namespace {

struct Colour {
  std::string_view light;
  std::string_view dark;
};

// After Okabe and Ito's palette for all kinds of colour vision; on dark paper a little lighter.
constexpr Colour kPalette[kColours] = {{"#0072b2", "#4da6e0"}, {"#d55e00", "#f0843c"}, {"#009e73", "#2fbf95"},
                                       {"#b0508f", "#d98cbf"}, {"#c98a00", "#e6b13a"}, {"#2a9dc7", "#7cc8ec"},
                                       {"#7a5cc4", "#a78fe6"}, {"#8a6516", "#c09a4a"}, {"#6b7785", "#9aa6b2"},
                                       {"#b8404a", "#e67a83"}};

struct Theme {
  std::string_view paper;
  std::string_view ink;
  std::string_view axis;
  std::string_view grid;
};

constexpr Theme kLight = {"#ffffff", "#1f2328", "#59636e", "#dde2e7"};
constexpr Theme kDark = {"#0d1117", "#e6edf3", "#9198a1", "#2b3138"};

std::string rules(const Theme& theme, bool dark) {
  std::string css =
      cat(".paper{fill:", theme.paper, "}.label,.title{fill:", theme.ink, "}.axis{stroke:", theme.axis,
          "}.grid{stroke:", theme.grid, "}.reference{stroke:", theme.ink, "}");
  for (size_t i = 0; i < kColours; ++i) {
    const std::string_view colour = dark ? kPalette[i].dark : kPalette[i].light;
    css += cat(".f", i, "{fill:", colour, "}.s", i, "{stroke:", colour, "}");
  }
  return css;
}

std::string escape(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string_view anchor_name(Canvas::Anchor anchor) {
  if (anchor == Canvas::Anchor::kStart) return "start";
  return anchor == Canvas::Anchor::kMiddle ? "middle" : "end";
}

Point on_circle(Point centre, double radius, double angle) {
  return {centre.x + radius * std::sin(angle), centre.y - radius * std::cos(angle)};
}

std::string pair_of(Point point) { return coordinate(point.x) + " " + coordinate(point.y); }

}  // namespace

std::string coordinate(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

void Canvas::text(Point at, std::string_view text, Anchor anchor, std::string_view style) {
  body_ << "<text class=\"" << style << "\" x=\"" << coordinate(at.x) << "\" y=\"" << coordinate(at.y)
        << "\" text-anchor=\"" << anchor_name(anchor) << "\">" << escape(text) << "</text>\n";
}

void Canvas::turned_text(Point at, double degrees, std::string_view text, Anchor anchor) {
  body_ << "<text class=\"label\" text-anchor=\"" << anchor_name(anchor) << "\" transform=\"translate("
        << pair_of(at) << ") rotate(" << coordinate(degrees) << ")\">" << escape(text) << "</text>\n";
}

void Canvas::line(Point from, Point to, std::string_view style) {
  body_ << "<line class=\"" << style << "\" x1=\"" << coordinate(from.x) << "\" y1=\"" << coordinate(from.y)
        << "\" x2=\"" << coordinate(to.x) << "\" y2=\"" << coordinate(to.y) << "\"/>\n";
}

void Canvas::dot(Point at, size_t colour) {
  body_ << "<circle class=\"f" << colour % kColours << "\" cx=\"" << coordinate(at.x) << "\" cy=\""
        << coordinate(at.y) << "\" r=\"3.5\"/>\n";
}

void Canvas::bar(const Box& box, size_t colour, std::string_view tooltip) {
  body_ << "<rect class=\"f" << colour % kColours << "\" x=\"" << coordinate(box.left) << "\" y=\""
        << coordinate(box.top) << "\" width=\"" << coordinate(box.width) << "\" height=\""
        << coordinate(box.height) << "\"><title>" << escape(tooltip) << "</title></rect>\n";
}

void Canvas::polyline(const std::string& points, size_t colour, bool dashed) {
  body_ << "<polyline class=\"" << (colour == kInk ? "reference" : cat("s", colour % kColours))
        << (dashed ? " dashed" : "") << "\" points=\"" << points << "\"/>\n";
}

void Canvas::sector(const Sector& sector, size_t colour, std::string_view tooltip) {
  const double span = std::min(sector.to - sector.from, 2 * std::numbers::pi - 1e-4);
  const double to = sector.from + span;
  const int large = span > std::numbers::pi ? 1 : 0;
  body_ << "<path class=\"f" << colour % kColours << "\" d=\"M"
        << pair_of(on_circle(sector.centre, sector.outer, sector.from)) << " A" << sector.outer << ' '
        << sector.outer << " 0 " << large << " 1 " << pair_of(on_circle(sector.centre, sector.outer, to))
        << " L" << pair_of(on_circle(sector.centre, sector.inner, to)) << " A" << sector.inner << ' '
        << sector.inner << " 0 " << large << " 0 "
        << pair_of(on_circle(sector.centre, sector.inner, sector.from)) << " Z\"><title>" << escape(tooltip)
        << "</title></path>\n";
}

std::string Canvas::document(double width, double height) const {
  return cat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"", height,
             "\" viewBox=\"0 0 ", width, " ", height, "\">\n<style>text{font-family:system-ui,'DejaVu Sans',",
             "sans-serif;font-size:12px}.title{font-size:15px;font-weight:600}line,polyline{fill:none;",
             "stroke-width:1}polyline{stroke-width:2}.dashed{stroke-dasharray:6 5;stroke-width:1.5}",
             ".reference{stroke-dasharray:3 3}", rules(kLight, false), "@media (prefers-color-scheme:dark){",
             rules(kDark, true), "}</style>\n<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n",
             body_.str(), "</svg>\n");
}

}  // namespace ringkv::ringlab
