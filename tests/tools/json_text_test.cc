#include "tools/kvctl/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/kvctl/plain_text.h"

namespace ringkv::tools {
namespace {

using Json = nlohmann::json;

VersionInfo version(const std::string& value, const std::string& dot) {
  VersionInfo version;
  version.value = value;
  version.dot = dot;
  return version;
}

MemberInfo member(const std::string& name, const std::string& state) {
  MemberInfo member;
  member.name = name;
  member.state = state;
  return member;
}

TEST(JsonText, NamesAKeyAsTextOnlyWhenItIsUtf8) {
  EXPECT_EQ(key_json("k\xc3\xb6"), "{\"key_b64\":\"a8O2\",\"key\":\"k\xc3\xb6\"}");
  EXPECT_EQ(key_json("\xff"), R"({"key_b64":"/w=="})");
}

TEST(JsonText, AGetHasTokenValuesAndContext) {
  GetResult result;
  result.values = {"v", ""};
  result.context = Context("c");
  result.epoch = 3;

  const Json json = Json::parse(to_json({.key = "a", .bucket = ""}, result));

  EXPECT_EQ(json["token"], "86f7e437faa5a7fc");
  EXPECT_EQ(json["values"], Json({"dg==", ""}));
  EXPECT_EQ(json["context"], "Yw==");
  EXPECT_EQ(json["epoch"], 3);
  EXPECT_FALSE(json.contains("unconfirmed"));
}

TEST(JsonText, AMissingKeyIsADocumentToo) {
  const Json json = Json::parse(to_json({.key = "a", .bucket = ""}, GetResult{}));

  EXPECT_EQ(json["values"], Json::array());
}

TEST(JsonText, ADeadReplicaIsListedWithoutVersions) {
  Explanation explanation;
  explanation.token = 0x0102;
  explanation.partition = 7;
  explanation.replicas.resize(2);
  explanation.replicas[0].node = "n1";
  explanation.replicas[1] = {"n4", "b", true, {version("v", "A:1")}, "n1"};

  const Json json = Json::parse(to_json({.key = "a", .bucket = ""}, explanation));

  EXPECT_EQ(json["token"], "0000000000000102");
  EXPECT_EQ(json["partition"], 7);
  EXPECT_EQ(json["replicas"][0]["alive"], false);
  EXPECT_EQ(json["replicas"][0]["versions"], Json::array());
  EXPECT_FALSE(json["replicas"][0].contains("hint_for"));
  EXPECT_EQ(json["replicas"][1]["hint_for"], "n1");
  EXPECT_EQ(json["replicas"][1]["versions"][0]["dot"], "A:1");
  EXPECT_EQ(json["replicas"][1]["versions"][0]["value_b64"], "dg==");
}

TEST(JsonText, AReceiptNamesForWhomAHintIsKept) {
  PutReceipt receipt;
  receipt.epoch = 3;
  receipt.acks = {{"n1", Acknowledgement::Kind::kSynced, ""}, {"n4", Acknowledgement::Kind::kHint, "n3"}};

  const Json json = Json::parse(to_json(receipt));

  EXPECT_EQ(json["acks"][0], Json({{"node", "n1"}, {"durability", "synced"}}));
  EXPECT_EQ(json["acks"][1], Json({{"node", "n4"}, {"durability", "hint"}, {"hint_for", "n3"}}));
}

TEST(JsonText, AnExplanationSaysWhatIsNotWholeAndWhyATombstoneStays) {
  Explanation explanation;
  explanation.replicas.resize(2);
  explanation.replicas[0].node = "n1";
  explanation.replicas[0].alive = true;
  explanation.replicas[1] = explanation.replicas[0];
  explanation.replicas[1].whole = false;
  explanation.replicas[1].blocked_by = {"n3's life 4a1b: 17 up to 12 here"};
  explanation.would_answer = {"not found", "unavailable"};

  const Json json = Json::parse(to_json({.key = "a", .bucket = ""}, explanation));

  EXPECT_FALSE(json["replicas"][0].contains("whole"));
  EXPECT_FALSE(json["replicas"][0].contains("blocked_by"));
  EXPECT_EQ(json["replicas"][1]["whole"], false);
  EXPECT_EQ(json["replicas"][1]["blocked_by"], Json({"n3's life 4a1b: 17 up to 12 here"}));
  EXPECT_EQ(json["would_answer"], Json({"not found", "unavailable"}));
}

TEST(PlainText, AnExplanationSaysAllThatIsKnownOfEachCopy) {
  Explanation explanation;
  explanation.replicas.resize(4);
  for (size_t i = 0; i < 4; ++i) explanation.replicas[i] = {"n" + std::to_string(i + 1), "a", true, {}, ""};
  VersionInfo tombstone = version("", "A:2");
  tombstone.tombstone = true;
  tombstone.source = "anti-entropy";
  explanation.replicas[0].versions = {tombstone};
  explanation.replicas[0].blocked_by = {"n3's life 4a1b"};
  explanation.replicas[1].whole = false;
  explanation.replicas[2].alive = false;
  explanation.replicas[3].hint_for = "n3";
  explanation.replicas[3].versions = {tombstone};
  explanation.would_answer = {"not found"};

  const std::string text = to_text(explanation);

  for (const char* line :
       {"n1 (rack a): holds\n", "  the tombstone stays: n3's life 4a1b\n",
        "n2 (rack a): holds nothing; it has yet to refill", "n3 (rack a): down\n",
        "n4 (rack a): keeps a hint for n3\n", "anti-entropy", "R = 1 would answer: not found\n"})
    EXPECT_NE(text.find(line), std::string::npos) << line << " in:\n" << text;
}

TEST(JsonText, AStatusFieldWithoutDataIsNull) {
  ClusterStatus status;
  status.members.push_back(member("n1", "up"));
  status.members[0].keys = 5;

  const Json json = Json::parse(to_json(status));

  EXPECT_EQ(json["members"][0]["keys"], 5);
  EXPECT_TRUE(json["members"][0]["lag_s"].is_null());
  EXPECT_TRUE(json["members"][0]["hint_bytes"].is_null());
  EXPECT_TRUE(json["members"][0]["skew_s"].is_null());
  EXPECT_TRUE(json["members"][0]["incomplete_partitions"].is_null());
}

TEST(JsonText, StatusSaysHowFarEachMemberIsFromTheOthers) {
  ClusterStatus status;
  MemberInfo& n1 = status.members.emplace_back(member("n1", "up"));
  n1.hints = 1;
  n1.hint_bytes = 2;
  n1.lag_seconds = 3.5;
  n1.skew_seconds = -4.5;
  n1.incomplete_partitions = 5;

  const Json json = Json::parse(to_json(status))["members"][0];

  EXPECT_EQ(json["hints"], 1);
  EXPECT_EQ(json["hint_bytes"], 2);
  EXPECT_EQ(json["lag_s"], 3.5);
  EXPECT_EQ(json["skew_s"], -4.5);
  EXPECT_EQ(json["incomplete_partitions"], 5);
}

TEST(PlainText, StatusWarnsOfWrongClocksAndOfPartitionsToRefill) {
  ClusterStatus status;
  status.members = {member("n1", "up"), member("n2", "up")};
  status.members[0].skew_seconds = -0.0001;
  EXPECT_NE(to_text(status, true).find("  0.000s"), std::string::npos) << to_text(status, true);
  status.members[0].skew_seconds = -4.9;
  status.members[0].incomplete_partitions = 0;
  EXPECT_EQ(to_text(status, false).find("n1 has"), std::string::npos);
  EXPECT_EQ(to_text(status, false).find("n1's clock"), std::string::npos);

  status.members[1].skew_seconds = -864'000;
  status.members[1].incomplete_partitions = 120;

  const std::string text = to_text(status, false);
  EXPECT_NE(text.find("n2's clock is -864000.0s off"), std::string::npos) << text;
  EXPECT_NE(text.find("n2 has 120 partitions to refill"), std::string::npos) << text;
  const std::string verbose = to_text(status, true);
  EXPECT_NE(verbose.find("TO REFILL"), std::string::npos) << verbose;
  EXPECT_NE(verbose.find("-864000.000s  120"), std::string::npos) << verbose;
}

TEST(JsonText, TheCursorAfterTheLastKeyIsNull) {
  EXPECT_EQ(cursor_json(""), R"({"after":null})");
  EXPECT_EQ(cursor_json("\x01"), R"({"after":"AQ=="})");
}

TEST(JsonText, TimesAreUtc) { EXPECT_EQ(utc_text(1'714'564'800'007), "2024-05-01T12:00:00.007Z"); }

TEST(PlainText, BytesOutsidePrintableAsciiAreEscaped) {
  LocalRecord record;
  record.versions = {version("a\x1b[2J\\", "A:1")};

  const std::string text = to_text(record);

  EXPECT_NE(text.find("a\\x1b[2J\\x5c"), std::string::npos) << text;
}

TEST(PlainText, TableColumnsAreAligned) {
  ClusterStatus status;
  status.members = {member("n1", "up"), member("a-long-name", "down")};

  const std::string text = to_text(status, false);

  const size_t heading = text.find("STATE") - text.find("NAME");
  EXPECT_EQ(text.find("up") - text.find("n1"), heading);
  EXPECT_EQ(text.find("down") - text.find("a-long-name"), heading);
}

TEST(JsonText, StatusHasAddressesAndEpochsOrNull) {
  ClusterStatus status;
  status.change_under_way = true;
  status.members = {member("n1", "up"), member("n2", "down")};
  status.members[0].peer_address = "h:1";
  status.members[0].client_address = "h:2";
  status.members[0].epoch = 7;

  const Json json = Json::parse(to_json(status));

  EXPECT_EQ(json["change_under_way"], true);
  EXPECT_EQ(json["members"][0]["peer"], "h:1");
  EXPECT_EQ(json["members"][0]["client"], "h:2");
  EXPECT_EQ(json["members"][0]["epoch"], 7);
  for (const char* field : {"peer", "client", "epoch"}) EXPECT_TRUE(json["members"][1].at(field).is_null());
}

TEST(PlainText, StatusShowsAddressesAndEpochsWhenAskedTo) {
  ClusterStatus status;
  status.members = {member("n1", "up"), member("n2", "down")};
  status.members[0].peer_address = "host:7410";
  status.members[0].epoch = 7;

  EXPECT_EQ(to_text(status, false).find("7410"), std::string::npos);
  EXPECT_NE(to_text(status, true).find("7      host:7410  -"), std::string::npos) << to_text(status, true);
}

}  // namespace
}  // namespace ringkv::tools
