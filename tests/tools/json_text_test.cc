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

TEST(JsonText, AStatusFieldWithoutDataIsNull) {
  ClusterStatus status;
  status.members.push_back(member("n1", "up"));
  status.members[0].keys = 5;

  const Json json = Json::parse(to_json(status));

  EXPECT_EQ(json["members"][0]["keys"], 5);
  EXPECT_TRUE(json["members"][0]["lag_s"].is_null());
  EXPECT_TRUE(json["members"][0]["hint_bytes"].is_null());
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
