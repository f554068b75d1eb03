#include "tools/kvbench/compare/comparison_table.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvbench/compare/bare_program.h"

namespace ringkv::tools {
namespace {

const std::vector<Row> kRows = {
    {.system = "bare",
     .acknowledged_means = "log",
     .put = Figures{1000, 800, 1900, 0},
     .get = Figures{2000, 600, 1400, 0}},
    {.system = "absent", .acknowledged_means = "memory", .note = "not installed: apt-get install absent"},
    {.system = "ours", .acknowledged_means = "log", .put = Figures{750, 1000, 2000, 3}}};

TEST(ComparisonTable, RatiosAreToTheFirstRow) {
  const std::string text = comparison_text({}, kRows);

  EXPECT_NE(text.find("| bare | log | 1000 | 0.80/1.90 | 1.00 | 2000 | 0.60/1.40 | 1.00 |"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("| ours | log | 750 (3 failed) | 1.00/2.00 | 0.75 | – | – | – |"), std::string::npos)
      << text;
}

TEST(ComparisonTable, WhoHasNoFiguresSaysWhy) {
  EXPECT_NE(comparison_text({}, kRows).find("absent: not installed: apt-get install absent"),
            std::string::npos);
}

TEST(ComparisonTable, JsonHasTheSame) {
  const auto json = nlohmann::json::parse(comparison_json({.keys = 7}, kRows));

  EXPECT_EQ(json["keys"], 7);
  EXPECT_EQ(json["rows"][2]["put"]["ratio"], 0.75);
  EXPECT_EQ(json["rows"][2]["get"], nullptr);
  EXPECT_EQ(json["rows"][1]["note"], "not installed: apt-get install absent");
}

TEST(BareProgram, ItsLineIsRead) {
  const Result<Figures> figures =
      parse_figures(R"({"ops_per_s":12.5,"p50_us":7,"p99_us":9,"errors":1,"unknown":2,"more":0})");

  ASSERT_TRUE(figures.ok());
  EXPECT_EQ(figures->ops_per_s, 12.5);
  EXPECT_EQ(figures->p99_us, 9U);
  EXPECT_EQ(figures->failed, 3U);
}

TEST(BareProgram, WhatIsNoSuchLineIsRefused) {
  for (const char* wrong :
       {"", "null", "[]", "{}", R"({"ops_per_s":"many","p50_us":7,"p99_us":9,"errors":1,"unknown":2})"})
    EXPECT_FALSE(parse_figures(wrong).ok()) << wrong;
}

}  // namespace
}  // namespace ringkv::tools
