// Every published figure that the laboratory reproduces, in the printed text and in the JSON.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/ringlab/experiment.h"

namespace ringkv::ringlab {
namespace {

using Json = nlohmann::json;
using List = std::vector<uint64_t>;

struct Printed {
  std::string text;  // blanks squeezed
  Json tables;

  bool has_line(const std::string& line) const {
    return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
  }
  const Json& rows(const std::string& table) const { return tables.at(table).at("rows"); }
};

std::string squeezed(const std::string& text) {
  std::string squeezed;
  bool at_begin = true;
  for (const char c : text) {
    if (c == ' ' && (at_begin || squeezed.back() == ' ')) continue;
    at_begin = c == '\n';
    squeezed.push_back(c);
  }
  return squeezed;
}

Printed run(const std::function<Report(const Settings&, Progress&)>& experiment,
            const Settings& settings = {}) {
  std::ostringstream standard_error;
  Progress progress(standard_error);
  const Report report = experiment(settings, progress);
  return {squeezed(to_text(report)), Json::parse(to_json(report)).at("tables")};
}

const Printed& movements() {
  static const Printed printed = run(&run_movements);
  return printed;
}

TEST(Movements, ModuloIsEven) {
  EXPECT_TRUE(movements().has_line("1.000 12498 12501 12500 12498 12501 12500 12501 12501"))
      << movements().text;
  EXPECT_EQ(movements().rows("mod_load")[0].at("keys_by_shard"),
            (List{12498, 12501, 12500, 12498, 12501, 12500, 12501, 12501}));
}

TEST(Movements, AHotKeyIsSplit) {
  EXPECT_TRUE(movements().has_line("whole 1 6.392 15151 14964 95009 14926 15066 14863 15086 14935"));
  EXPECT_TRUE(movements().has_line("split 16 1.510 20151 29964 25009 19926 25066 24863 30086 24935"));
  EXPECT_TRUE(movements().has_line("The split's cost: a read of the split key asks all 16 parts."));
  const Json& rows = movements().rows("hot_key");
  EXPECT_EQ(rows[0].at("max_over_min"), 6.392);
  EXPECT_EQ(rows[0].at("requests_by_shard"), (List{15151, 14964, 95009, 14926, 15066, 14863, 15086, 14935}));
  EXPECT_EQ(rows[1].at("max_over_min"), 1.51);
  EXPECT_EQ(rows[1].at("asked_by_a_read"), 16);
  EXPECT_EQ(rows[1].at("requests_by_shard"), (List{20151, 29964, 25009, 19926, 25066, 24863, 30086, 24935}));
}

TEST(Movements, ANinthShardMovesLittleOnTheRing) {
  EXPECT_TRUE(movements().has_line("modulo 88864 88.9 11.1 77678"));
  EXPECT_TRUE(movements().has_line("ring 8584 8.6 11.1 0"));
  EXPECT_NE(movements().text.find("Raw FNV-1a spreads points of similar names unevenly."), std::string::npos);
  const Json& rows = movements().rows("growth");
  EXPECT_EQ(rows[0].at("moved"), 88864);
  EXPECT_EQ(rows[0].at("moved_percent"), 88.9);
  EXPECT_EQ(rows[1].at("moved"), 8584);
  EXPECT_EQ(rows[1].at("moved_percent"), 8.6);
  EXPECT_EQ(rows[1].at("fair_percent"), 11.1);
}

TEST(Movements, ALostShardsKeysFindSurvivors) {
  EXPECT_TRUE(movements().has_line("13403 13.4 12.5 0 0 11983 13734 15028 11857 15696 15500 16202"));
  const Json& row = movements().rows("loss")[0];
  EXPECT_EQ(row.at("moved"), 13403);
  EXPECT_EQ(row.at("moved_percent"), 13.4);
  EXPECT_EQ(row.at("fair_percent"), 12.5);
  EXPECT_EQ(row.at("unroutable"), 0);
  EXPECT_EQ(row.at("keys_by_survivor"), (List{11983, 13734, 15028, 11857, 15696, 15500, 16202}));
}

struct RemapFigure {
  int before;
  int after;
  double modulo;
  double ring;
};

TEST(Remap, MovesThePublishedShares) {
  const Printed printed = run(&run_remap);
  const std::vector<RemapFigure> figures = {{2, 3, 66.81, 37.19},  {3, 4, 74.89, 29.46},
                                            {4, 5, 79.97, 18.78},  {8, 9, 88.74, 12.76},
                                            {16, 17, 94.03, 5.74}, {4, 3, 74.89, 29.46}};
  for (size_t i = 0; i < figures.size(); ++i) {
    const Json& row = printed.rows("moved")[i];
    EXPECT_EQ(row.at("nodes_before"), figures[i].before);
    EXPECT_EQ(row.at("nodes_after"), figures[i].after);
    EXPECT_EQ(row.at("modulo_percent"), figures[i].modulo);
    EXPECT_EQ(row.at("ring_percent"), figures[i].ring);
  }
  EXPECT_TRUE(printed.has_line("2 3 66.81 66.67 37.19 33.33 371.9 333.3")) << printed.text;
  EXPECT_TRUE(printed.has_line("3 4 74.89 75.00 29.46 25.00 294.6 250.0"));
  EXPECT_TRUE(printed.has_line("4 5 79.97 80.00 18.78 20.00 187.8 200.0"));
  EXPECT_TRUE(printed.has_line("8 9 88.74 88.89 12.76 11.11 127.6 111.1"));
  EXPECT_TRUE(printed.has_line("16 17 94.03 94.12 5.74 5.88 57.4 58.8"));
}

// About 1/101 of the data: some 10 GB of 1 TB.
TEST(Remap, AHundredAndFirstNodeMovesAboutItsShare) {
  const Json row = run(&run_remap).rows("moved")[6];
  EXPECT_EQ(row.at("nodes_after"), 101);
  EXPECT_NEAR(row.at("ring_percent").get<double>(), 100.0 / 101, 0.25);
  EXPECT_EQ(row.at("theory_gb_of_1_tb"), 9.9);
}

struct SpreadFigure {
  int virtual_nodes;
  int fewest;
  int most;
};

TEST(Spread, IsThePublishedOne) {
  const Printed printed = run(&run_spread);
  const std::vector<SpreadFigure> figures = {
      {1, 66, 25465}, {2, 1002, 28766}, {10, 8428, 20368}, {150, 11514, 14688}, {500, 10887, 13483}};
  for (size_t i = 0; i < figures.size(); ++i) {
    const Json& row = printed.rows("spread")[i];
    EXPECT_EQ(row.at("vnodes"), figures[i].virtual_nodes);
    EXPECT_EQ(row.at("fewest"), figures[i].fewest);
    EXPECT_EQ(row.at("most"), figures[i].most);
  }
  EXPECT_EQ(printed.rows("spread")[3].at("spread_percent"), 25.4);
  EXPECT_EQ(printed.rows("spread")[4].at("spread_percent"), 20.8);
  EXPECT_NE(printed.text.find("\n1 66 25465 203.2 "), std::string::npos) << printed.text;
  EXPECT_NE(printed.text.find("\n2 1002 28766 222.1 "), std::string::npos);
  EXPECT_NE(printed.text.find("\n10 8428 20368 95.5 "), std::string::npos);
  EXPECT_NE(printed.text.find("\n150 11514 14688 25.4 "), std::string::npos);
  EXPECT_NE(printed.text.find("\n500 10887 13483 20.8 "), std::string::npos);
}

// The claims stand beside what is measured, which is far from them with 150 points a node.
TEST(Spread, PrintsClaimsBesideMeasurements) {
  const Printed printed = run(&run_spread);
  const Json& rows = printed.rows("claims");
  ASSERT_EQ(rows.size(), 6U);
  for (const size_t i : {2, 5}) {
    EXPECT_EQ(rows[i].at("claimed"), "under 2 % (2400 points)");
    EXPECT_GT(rows[i].at("deviation_percent").get<double>(), 6);
    EXPECT_GT(rows[i].at("skew_percent").get<double>(), 10);
  }
  EXPECT_EQ(rows[0].at("hash"), "sha1");
  EXPECT_EQ(rows[0].at("claimed"), "22 % against 4 % of the traffic");
  EXPECT_EQ(rows[4].at("hash"), "murmur3_128");
  EXPECT_EQ(rows[4].at("claimed"), "15 % skew");
}

TEST(Spread, AnEmptyNodesRatioIsInfinity) {
  const Printed printed = run(&run_spread, {.nodes = 8, .virtual_nodes = 1, .keys = 4});
  EXPECT_EQ(printed.rows("spread")[0].at("fewest"), 0);
  EXPECT_EQ(printed.rows("spread")[0].at("max_over_min"), "infinity");
  EXPECT_NE(printed.text.find(" infinity "), std::string::npos);
}

const Printed& compare() {
  static const Printed printed = run(&run_compare, {.nodes = 100, .keys = 20'000});
  return printed;
}

TEST(Compare, SoundSchemesMoveNothingNeedlessly) {
  for (const std::string table : {"nodes_100_equal", "nodes_100_weighted"}) {
    size_t sound = 0;
    for (const Json& row : compare().rows(table)) {
      const std::string scheme = row.at("scheme");
      if (scheme == "modulo" || scheme == "maglev" || scheme == "bounded-loads") continue;
      ++sound;
      EXPECT_EQ(row.at("add_needless"), 0) << scheme;
      if (scheme == "jump") continue;  // refuses
      EXPECT_EQ(row.at("remove_needless"), 0) << scheme;
    }
    EXPECT_EQ(sound, 7U);
  }
}

TEST(Compare, JumpRefusesAnArbitraryRemoval) {
  const Json& jump = compare().rows("nodes_100_equal")[6];
  EXPECT_EQ(jump.at("scheme"), "jump");
  EXPECT_EQ(jump.at("remove_percent"), "refused");
  EXPECT_NE(compare().text.find("Refused: jump hash numbers its buckets without gaps"), std::string::npos);
}

TEST(Compare, VirtualNodesFollowTheLaw) {
  for (const Json& row : compare().rows("law")) {
    const double law = row.at("law_percent");
    EXPECT_NEAR(row.at("deviation_percent").get<double>(), law, 0.2 * law);
  }
  const Json& claims = compare().rows("claims");
  EXPECT_EQ(claims[0].at("claimed"), "0.8 %");
  EXPECT_NEAR(claims[0].at("deviation_percent").get<double>(), 8.2, 1);
  EXPECT_EQ(claims[1].at("claimed"), "under 2 %");
  EXPECT_GT(claims[1].at("deviation_percent").get<double>(), 6);
}

TEST(Compare, RunsOnAThousandNodes) {
  const Printed printed = run(&run_compare, {.nodes = 1000, .virtual_nodes = 20, .keys = 2000});
  EXPECT_EQ(printed.rows("nodes_1000_equal").size(), 10U);
  EXPECT_EQ(printed.rows("nodes_1000_weighted").size(), 10U);
}

TEST(Lookup, ACopyOf15000PointsHas180000Bytes) {
  const Printed printed = run(&run_lookup, {.keys = 1000});
  const Json& rows = printed.rows("lookup");
  EXPECT_EQ(rows[0].at("step"), "ring-search");
  EXPECT_EQ(rows[0].at("bytes_of_a_copy"), 180'000);
  EXPECT_EQ(rows[0].at("comparisons"), 14);
  EXPECT_EQ(rows[0].at("target_ns"), 100);
  EXPECT_EQ(rows[1].at("target_ns"), 10);
  EXPECT_EQ(rows[2].at("target_ns"), 150);
}

TEST(Bounded, NoLoadIsAboveTheBound) {
  const Printed printed = run(&run_bounded);
  for (const std::string table : {"vnodes_1", "vnodes_150"}) {
    const Json& rows = printed.rows(table);
    EXPECT_EQ(rows[0].at("cap"), 1100);
    EXPECT_EQ(rows[1].at("cap"), 1250);
    EXPECT_EQ(rows[2].at("cap"), 2000);
    for (size_t i = 0; i < 3; ++i) EXPECT_LE(rows[i].at("most"), rows[i].at("cap"));
    EXPECT_EQ(rows[3].at("bound"), "none");
    EXPECT_EQ(rows[3].at("spilled"), 0);
    EXPECT_GE(rows[0].at("spilled"), rows[1].at("spilled"));
  }
}

TEST(Racks, NoListIsWrong) {
  const Printed printed = run(&run_racks, {.virtual_nodes = 20, .keys = 100});
  const Json& rows = printed.rows("racks");
  ASSERT_EQ(rows.size(), 75U);
  uint64_t wrapping = 0;
  for (const Json& row : rows) {
    EXPECT_EQ(row.at("clusters"), 11);
    EXPECT_EQ(row.at("wrong_nodes"), 0) << row;
    EXPECT_EQ(row.at("wrong_racks"), 0) << row;
    wrapping += row.at("wrapping").get<uint64_t>();
  }
  EXPECT_GT(wrapping, 1000U);
}

TEST(Experiments, KnobsChangeEveryOne) {
  const Settings knobs{.nodes = 5, .virtual_nodes = 7, .keys = 500, .hash = hash_named("murmur3_128")};
  for (const Experiment& experiment : experiments()) {
    SCOPED_TRACE(experiment.name);
    std::ostringstream standard_error;
    Progress progress(standard_error);
    const Report report = experiment.run(knobs, progress);
    const Json settings = Json::parse(to_json(report)).at("settings");
    EXPECT_EQ(settings.at("keys"), "500");
    EXPECT_EQ(settings.at("hash"), "murmur3_128");
    EXPECT_FALSE(report.charts.empty());
  }
}

}  // namespace
}  // namespace ringkv::ringlab
