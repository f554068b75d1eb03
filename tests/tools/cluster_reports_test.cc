#include "tools/kvctl/cluster_reports.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvctl/json_text.h"
#include "tools/kvctl/plain_text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string>;

TEST(AskEach, AsksEveryMemberAndKeepsWhoDidNotAnswer) {
  std::vector<MemberInfo> members(3);
  for (size_t i = 0; i < 3; ++i) members[i].name = "n" + std::to_string(i + 1);

  const auto asked = ask_each(members, [](const std::string& name) -> Result<PurgeReport> {
    if (name == "n2") return unavailable("n2 can't be reached");
    return PurgeReport{.erased = 5};
  });

  ASSERT_EQ(asked.answers.size(), 2U);
  EXPECT_EQ(asked.answers[0].member, "n1");
  EXPECT_EQ(asked.answers[1].member, "n3");
  EXPECT_EQ(asked.answers[1].report.erased, 5U);
  ASSERT_EQ(asked.unanswered.size(), 1U);
  EXPECT_EQ(reason_of(asked.unanswered[0]), "n2 can't be reached");
  EXPECT_EQ(reason_of({"n2", unavailable("n22 is nearer")}), "n2: n22 is nearer");
}

Asked<std::vector<HintInfo>> some_hints() {
  Asked<std::vector<HintInfo>> asked;
  asked.answers = {{"n1", {{"n3", "n1", 10, 1000}, {"n4", "n1", 1, 24}}}, {"n2", {{"n3", "n2", 5, 500}}}};
  asked.unanswered = {{"n3", unavailable("n3 can't be reached")}};
  return asked;
}

TEST(HintsOfAll, AreSummedAndListedByWhoKeepsThemForWhom) {
  const HintsOfAll hints = together(some_hints());

  const Json json = Json::parse(to_json(hints));
  EXPECT_EQ(json["hints"], 16);
  EXPECT_EQ(json["bytes"], 1524);
  ASSERT_EQ(json["peers"].size(), 3U);
  EXPECT_EQ(json["peers"][2], Json({{"for", "n3"}, {"held_by", "n2"}, {"hints", 5}, {"bytes", 500}}));
  EXPECT_EQ(json["unknown"], Json({"n3"}));
  const std::string text = to_text(hints);
  EXPECT_NE(text.find("16 hints, 1.5 KiB; no answer from n3\n"), std::string::npos) << text;
  EXPECT_NE(text.find("n3   n2       5      500 bytes\n"), std::string::npos) << text;
}

TEST(HintsOfAll, AreADocumentWhenThereAreNone) {
  const Json json = Json::parse(to_json(HintsOfAll{}));
  EXPECT_EQ(json["hints"], 0);
  EXPECT_EQ(json["peers"], Json::array());
  EXPECT_EQ(json["unknown"], Json::array());
  EXPECT_EQ(to_text(HintsOfAll{}), "0 hints, 0 bytes\n");
}

TEST(LagOfAll, HasThePairsWithWhatIsOnItsWayAsHints) {
  Asked<std::vector<LagInfo>> lags;
  lags.answers = {{"n4", {{"n1", "n4", 1.5, 3, 17, ""}, {"n3", "n4", std::nullopt, 0, 0, "gone"}}}};
  lags.unanswered = {{"n3", unavailable("gone")}};
  const LagOfAll lag = together(lags, some_hints());

  const Json json = Json::parse(to_json(lag));
  ASSERT_EQ(json["pairs"].size(), 2U);
  const Json& first = json["pairs"][0];
  EXPECT_EQ(first["from"], "n1");
  EXPECT_EQ(first["to"], "n4");
  EXPECT_EQ(first["lag_s"], 1.5);
  EXPECT_EQ(first["differing_partitions"], 3);
  EXPECT_EQ(first["behind"], 17);
  EXPECT_EQ(first["hint_bytes"], 24);
  EXPECT_TRUE(first["problem"].is_null());
  EXPECT_TRUE(json["pairs"][1]["lag_s"].is_null());
  EXPECT_TRUE(json["pairs"][1]["hint_bytes"].is_null()) << "n3 gave no answer";
  EXPECT_EQ(json["pairs"][1]["problem"], "gone");
  EXPECT_EQ(json["unknown"], Json({"n3"}));
  EXPECT_NE(to_text(lag).find("1.5s ago"), std::string::npos) << to_text(lag);
  EXPECT_NE(to_text(lag).find("not yet"), std::string::npos);
}

TEST(RepairOfAll, IsASum) {
  Asked<RepairReport> asked;
  asked.answers = {{"n1", {.differences = 2, .keys_sent = 3, .bytes_sent = 4, .partitions = 8}},
                   {"n2", {.differences = 20, .keys_sent = 30, .bytes_sent = 40, .partitions = 8}}};
  const RepairOfAll repair = together(asked);

  const Json json = Json::parse(to_json(repair));
  EXPECT_EQ(json["differences"], 22);
  EXPECT_EQ(json["keys_sent"], 33);
  EXPECT_EQ(json["bytes_sent"], 44);
  EXPECT_EQ(json["partitions"], 16);
  EXPECT_EQ(json["partial"], false);
  EXPECT_EQ(json["problems"], Json::array());
  EXPECT_EQ(to_text(repair, false),
            "22 differences in 16 comparisons of partitions; 33 keys, 44 bytes sent\n");
}

TEST(RepairOfAll, IsPartialWhereAMemberWasNotAskedOrNotComparedWith) {
  Asked<RepairReport> asked;
  asked.answers = {{"n1", {.partial = true, .problems = {"n3 can't be reached"}}}};
  EXPECT_TRUE(together(asked).sum.partial);
  EXPECT_EQ(together(asked).sum.problems, Names{"n1: n3 can't be reached"});

  asked.answers[0].report = {};
  EXPECT_FALSE(together(asked).sum.partial);
  asked.unanswered = {{"n3", unavailable("timed out")}};
  const RepairOfAll repair = together(asked);
  EXPECT_TRUE(repair.sum.partial);
  EXPECT_EQ(repair.sum.problems, Names{"n3: timed out"});
  EXPECT_EQ(Json::parse(to_json(repair))["unknown"], Json({"n3"}));
  EXPECT_NE(to_text(repair, false).find("partial"), std::string::npos);
}

TEST(RepairOfAll, ListsEachPartitionWhoseLossWasAcceptedOnce) {
  Asked<RepairReport> asked;
  asked.answers = {{"n1", {.accepted_loss = {7, 9}}}, {"n2", {.accepted_loss = {3, 9}}}};
  const RepairOfAll repair = together(asked);
  EXPECT_EQ(Json::parse(to_json(repair))["accepted_loss"], Json({3, 7, 9}));
  EXPECT_EQ(to_text(repair, true), "3 partitions taken for whole: 3 7 9\n");
  EXPECT_EQ(to_text(RepairOfAll{}, true), "0 partitions taken for whole\n");
}

TEST(PurgeOfAll, SaysWhatMustStayAndWhy) {
  Asked<PurgeReport> asked;
  asked.answers = {{"n1", {.erased = 100, .blocked = 2, .blocked_by = {"n3's life 4a1b"}}},
                   {"n2", {.erased = 1}}};
  asked.unanswered = {{"n3", unavailable("timed out")}};
  const PurgeOfAll purge = together(asked);

  const Json json = Json::parse(to_json(purge));
  EXPECT_EQ(json["erased"], 101);
  EXPECT_EQ(json["blocked"], 2);
  EXPECT_EQ(json["blocked_by"], Json({"n1: n3's life 4a1b"}));
  EXPECT_EQ(json["partial"], true);
  EXPECT_EQ(json["unknown"], Json({"n3"}));
  EXPECT_EQ(to_text(purge), "101 records let go, 2 must stay; no answer from n3\n  n1: n3's life 4a1b\n");
}

TEST(ScrubOfAll, IsASumWithEveryProblemByName) {
  Asked<ScrubReport> asked;
  asked.answers = {{"n1", {4096, 1000, 1, {"key 'k': its hash differs"}}}, {"n2", {4096, 500, 0, {}}}};
  const ScrubOfAll scrub = together(asked);

  const Json json = Json::parse(to_json(scrub));
  EXPECT_EQ(json["partitions"], 8192);
  EXPECT_EQ(json["records"], 1500);
  EXPECT_EQ(json["leaves_corrected"], 1);
  EXPECT_EQ(json["problems"], Json({"n1: key 'k': its hash differs"}));
  EXPECT_EQ(json["partial"], false);
  EXPECT_EQ(to_text(scrub), "1500 records in 8192 partitions read, 1 digest corrected, 1 problem\n");
}

}  // namespace
}  // namespace ringkv::tools
