#include <gtest/gtest.h>

#include "tools/kvbench/flag_kinds.h"
#include "tools/kvbench/settings.h"

namespace ringkv::tools {
namespace {

struct Outcome {
  std::variant<BenchSettings, int> parsed;
  std::string out;
  std::string err;

  const BenchSettings& settings() const { return std::get<BenchSettings>(parsed); }
  int exit_code() const { return std::holds_alternative<int>(parsed) ? std::get<int>(parsed) : -1; }
};

Outcome parse(std::vector<std::string> words) {
  words.insert(words.begin(), "kvbench");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto parsed = parse_bench_flags(static_cast<int>(argv.size()), argv.data());
  return {std::move(parsed), testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(BenchFlags, AllOfThem) {
  const Outcome outcome = parse({"--node",     "h:1", "--workload",   "ycsb-d", "--connections", "48",
                                 "--depth",    "16",  "--value-size", "1KiB",   "--keys",        "1000",
                                 "--duration", "3",   "--rate",       "5000.5", "--w",           "3",
                                 "--r",        "1",   "--durability", "synced", "--no-load",     "--json"});

  ASSERT_EQ(outcome.exit_code(), -1) << outcome.err;
  const BenchSettings& settings = outcome.settings();
  EXPECT_EQ(settings.nodes, (std::vector<std::string>{"h:1"}));
  EXPECT_EQ(settings.workload, Workload::kYcsbD);
  EXPECT_EQ(settings.connections, 48U);
  EXPECT_EQ(settings.depth, 16U);
  EXPECT_EQ(settings.value_bytes, 1024U);
  EXPECT_EQ(settings.keys, 1000U);
  EXPECT_EQ(settings.duration, std::chrono::seconds(3));
  EXPECT_EQ(settings.rate_per_second, 5000.5);
  EXPECT_EQ(settings.w, 3U);
  EXPECT_EQ(settings.r, 1U);
  EXPECT_EQ(settings.durability, Durability::kSynced);
  EXPECT_FALSE(settings.load);
  EXPECT_TRUE(settings.json);
}

TEST(BenchFlags, EachWorkloadHasItsDistributionUnlessOneIsGiven) {
  EXPECT_EQ(name_of(parse({"--workload", "get"}).settings().distribution), "uniform");
  EXPECT_EQ(name_of(parse({"--workload", "ycsb-a"}).settings().distribution), "zipfian");
  EXPECT_EQ(name_of(parse({"--workload", "ycsb-d"}).settings().distribution), "latest");
  EXPECT_EQ(
      name_of(parse({"--workload", "ycsb-d", "--distribution", "hotspot:0.25"}).settings().distribution),
      "hotspot:0.25");
}

TEST(BenchFlags, WhatDoesntFitIsRefusedAndSaysWhatWould) {
  for (const char* wrong :
       {"hotspot", "hotspot:", "hotspot:2", "hotspot:-1", "hotspot:0.5x", "hotspot:nan", "zipf"}) {
    const Outcome outcome = parse({"--distribution", wrong});
    EXPECT_EQ(outcome.exit_code(), 2) << wrong;
    EXPECT_NE(outcome.err.find("hotspot:F"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(parse({"--rate", "0"}).exit_code(), 2);
  EXPECT_EQ(parse({"--workload", "ycsb-e"}).exit_code(), 2);
  EXPECT_EQ(parse({"--keys", "0"}).exit_code(), 2);
  EXPECT_EQ(parse({"--duration", "1ms"}).exit_code(), 2);
}

TEST(BenchFlags, AComparisonRefusesWhatItCantDoToTheOthers) {
  EXPECT_TRUE(parse({"--compare", "--connections", "4", "--json"}).settings().compare);
  for (const auto& words : std::vector<std::vector<std::string>>{{"--rate", "5"},
                                                                 {"--workload", "put"},
                                                                 {"--distribution", "latest"},
                                                                 {"--durability", "synced"},
                                                                 {"--no-load"}}) {
    std::vector<std::string> all = words;
    all.insert(all.begin(), "--compare");
    const Outcome outcome = parse(all);
    EXPECT_EQ(outcome.exit_code(), 2) << words[0];
    EXPECT_NE(outcome.err.find("leave out " + words[0]), std::string::npos) << outcome.err;
  }
}

TEST(BenchFlags, HelpHasExamples) {
  const Outcome outcome = parse({"--help"});

  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_NE(outcome.out.find("kvbench --workload ycsb-a"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace ringkv::tools
