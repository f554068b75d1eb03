#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvbench/report.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::json;

Measurement sample() {
  Measurement measurement{.tally = {}, .seconds = 2};
  for (uint64_t i = 1; i <= 1000; ++i) measurement.tally.count(Status(), i, i <= 5, true);
  measurement.tally.count(unavailable("no"), 1, false, true);
  measurement.tally.count(unavailable("no"), 1, false, true);
  measurement.tally.count(unknown_outcome("perhaps"), 1, false, true);
  return measurement;
}

TEST(BenchReport, JsonHasFiguresAndSettings) {
  const Json json = Json::parse(to_json({.workload = Workload::kYcsbA, .rate_per_second = 500}, sample()));

  EXPECT_EQ(json["ops_per_s"], 500);
  EXPECT_EQ(json["p50_us"], 500);
  EXPECT_EQ(json["p95_us"], 950);
  EXPECT_EQ(json["p99_us"], 990);
  EXPECT_EQ(json["p999_us"], 999);
  EXPECT_EQ(json["max_us"], 1000);
  EXPECT_EQ(json["errors"], 2);
  EXPECT_EQ(json["unknown"], 1);
  EXPECT_EQ(json["misses"], 5);
  EXPECT_EQ(json["workload"], "ycsb-a");
  EXPECT_EQ(json["rate"], 500);
  EXPECT_EQ(json["unsent"], 0);
}

TEST(BenchReport, ThreeDigitsOfALatencyAreKept) {
  Measurement measurement{.tally = {}, .seconds = 1};
  measurement.tally.count(Status(), 123'456, false, true);
  measurement.tally.count(Status(), 9'999'999, false, true);

  const Json json = Json::parse(to_json({}, measurement));

  EXPECT_NEAR(json["p50_us"].get<double>(), 123'456, 124);
}

// What ended too late for the throughput has its latency all the same.
TEST(BenchReport, AStallAtTheEndIsInTheLatencies) {
  Measurement measurement{.tally = {}, .seconds = 1};
  measurement.tally.count(Status(), 10, false, true);
  measurement.tally.count(Status(), 5'000'000, false, false);

  const Json json = Json::parse(to_json({}, measurement));

  EXPECT_EQ(json["ops_per_s"], 1);
  EXPECT_EQ(json["max_us"], 5'000'000);
}

TEST(BenchReport, ARateThatWasTooMuchSaysSo) {
  Measurement measurement = sample();
  EXPECT_EQ(to_text({}, measurement).find("couldn't be sent"), std::string::npos);

  measurement.tally.count_unsent(7);
  EXPECT_NE(to_text({}, measurement).find("1 requests were due and couldn't be sent"), std::string::npos);
}

TEST(BenchReport, ASecondIsOneLine) {
  EXPECT_EQ(second_text(2, sample().tally), "2 s: 1000 ops, p99 0.99 ms, errors 2, unknown 1");
  EXPECT_EQ(second_text(1, Tally()), "1 s: 0 ops, p99 0.00 ms, errors 0, unknown 0 (not counted)");
}

}  // namespace
}  // namespace ringkv::tools
