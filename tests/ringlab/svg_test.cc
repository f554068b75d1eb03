#include "tools/ringlab/svg.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/ringlab/axis.h"
#include "tools/ringlab/report.h"

namespace ringkv::ringlab {
namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Axis, ALinearOneEndsAtARoundNumber) {
  const Axis axis = Axis::linear(14688);
  EXPECT_EQ(axis.marks(), (std::vector<double>{0, 5000, 10000, 15000}));
  EXPECT_DOUBLE_EQ(axis.part(7500), 0.5);
}

TEST(Axis, ALogarithmicOneHasEqualStepsPerDecade) {
  const Axis axis = Axis::logarithmic(1, 100);
  EXPECT_DOUBLE_EQ(axis.part(1), 0);
  EXPECT_DOUBLE_EQ(axis.part(10), 0.5);
  EXPECT_DOUBLE_EQ(axis.part(100), 1);
  EXPECT_EQ(axis.marks().size(), 7U);
}

TEST(Axis, OfNothingStillHasALength) {
  EXPECT_EQ(Axis::linear(0).part(0), 0);
  EXPECT_TRUE(std::isfinite(Axis::logarithmic(5, 5).part(5)));
}

TEST(Svg, ABarChartHasABarForEachValueAndNamesItsAxes) {
  const std::string svg = to_svg({BarChart{.title = "Load <all>",
                                           .x_label = "node",
                                           .y_label = "keys",
                                           .categories = {"a", "b"},
                                           .series = {{"one", {1, INFINITY}}, {"two", {3, 4}}},
                                           .reference = Reference{"fair share", 2}}});
  EXPECT_EQ(count(svg, "<rect"), 1U + 2 + 4);  // paper, legend, bars
  EXPECT_EQ(count(svg, ">fair share<"), 1U);
  EXPECT_EQ(count(svg, ">keys<"), 1U);
  EXPECT_EQ(count(svg, ">Load &lt;all><"), 1U);
  EXPECT_EQ(count(svg, "prefers-color-scheme:dark"), 1U);
  EXPECT_EQ(count(svg, "nan") + count(svg, "\"inf"), 0U);
}

TEST(Svg, TheoryIsDashed) {
  const std::string svg =
      to_svg({LineChart{.title = "t",
                        .x_label = "x",
                        .y_label = "y",
                        .log_x = true,
                        .log_y = true,
                        .series = {{.name = "measured", .points = {{1, 2}, {10, 1}}},
                                   {.name = "law", .points = {{1, 2}, {10, 1}}, .theory = true}}}});
  EXPECT_EQ(count(svg, "class=\"s0 dashed\""), 2U);  // legend and line, in the measured one's colour
  EXPECT_EQ(count(svg, "<circle"), 2U);
}

TEST(Svg, ALogarithmicChartLeavesZeroOut) {
  const std::string svg = to_svg({LineChart{.title = "t",
                                            .x_label = "x",
                                            .y_label = "y",
                                            .log_x = true,
                                            .log_y = true,
                                            .series = {{.name = "nothing moved", .points = {{1, 0}}}}}});
  EXPECT_EQ(count(svg, "<circle"), 0U);
  EXPECT_EQ(count(svg, "inf") + count(svg, "nan"), 0U);
}

TEST(Svg, AnArcAcrossTheTopIsDrawnWhole) {
  RingChart chart{.title = "ring", .nodes = {"a", "b"}, .circles = {{.title = "V = 1", .arcs = {}}}};
  chart.circles[0].arcs = {{.begin = 0.75, .end = 0.25, .node = 0}, {.begin = 0.25, .end = 0.75, .node = 1}};
  const std::string svg = to_svg({chart});
  EXPECT_EQ(count(svg, "<path"), 2U);
  EXPECT_EQ(count(svg, "a: 50 % of the circle"), 1U);
}

TEST(Report, TextAlignsAndJsonRoundsAlike) {
  const Report report{.experiment = "sample",
                      .settings = {{"keys", "3"}},
                      .tables = {{.name = "loads",
                                  .title = "Loads",
                                  .columns = {"scheme", "ratio", "keys"},
                                  .rows = {{text_cell("ring"), number_cell(12.3456, 2), list_cell({1, 2})},
                                           {text_cell("jump"), number_cell(INFINITY, 2), list_cell({3})}},
                                  .notes = {"A note."}}}};
  EXPECT_EQ(to_text(report),
            "sample: keys 3\n\nLoads\nscheme     ratio  keys\nring       12.35  1 2\njump    infinity  3\nA "
            "note.\n");
  EXPECT_EQ(
      to_json(report),
      R"({"experiment":"sample","settings":{"keys":"3"},"tables":{"loads":{"title":"Loads","rows":)"
      R"([{"scheme":"ring","ratio":12.35,"keys":[1,2]},{"scheme":"jump","ratio":"infinity","keys":[3]}],)"
      R"("notes":["A note."]}}})"
      "\n");
}

}  // namespace
}  // namespace ringkv::ringlab
