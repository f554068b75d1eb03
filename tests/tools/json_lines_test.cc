#include "tools/kvctl/json_lines.h"

#include <gtest/gtest.h>

#include "tools/kvctl/json_text.h"

namespace ringkv::tools {
namespace {

TEST(LoadLine, HoldsAKeyAndItsValue) {
  const auto entry = parse_load_line(R"({"key_b64":"a2V5","value_b64":"dmFsdWU=","more":[1]})");

  ASSERT_TRUE(entry.ok()) << entry.status().to_string();
  EXPECT_EQ(entry->key, "key");
  EXPECT_EQ(entry->values, std::vector<std::string>{"value"});
}

TEST(LoadLine, AnEmptyValueIsAValue) {
  const auto entry = parse_load_line(R"({"key_b64":"a2V5","value_b64":""})");

  ASSERT_TRUE(entry.ok());
  EXPECT_EQ(entry->values, std::vector<std::string>{""});
}

TEST(LoadLine, WhatDumpWritesLoadReads) {
  const std::string bytes("\0\xff\n\"\\", 5);
  const std::vector<ScanEntry> entries = {{.key = bytes, .values = {""}},
                                          {.key = "k", .values = {bytes, "second", ""}}};
  for (const ScanEntry& entry : entries) {
    const std::string line = entry_json(entry);
    const auto read = parse_load_line(line);

    ASSERT_TRUE(read.ok()) << line;
    EXPECT_EQ(read->key, entry.key);
    EXPECT_EQ(read->values, entry.values);
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(LoadLine, NamesTheFieldThatIsWrong) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "JSON object"},
      {"[]", "JSON object"},
      {R"({"key_b64":"a2V5")", "JSON object"},
      {R"({"value_b64":""})", "key_b64"},
      {R"({"key_b64":7,"value_b64":""})", "key_b64"},
      {R"({"key_b64":"a2V","value_b64":""})", "key_b64"},
      {R"({"key_b64":"a2V5"})", "value_b64"},
      {R"({"key_b64":"a2V5","value_b64":"!"})", "value_b64"},
      {R"({"key_b64":"a2V5","value_b64":"","siblings_b64":[]})", "one of them"},
      {R"({"key_b64":"a2V5","siblings_b64":[]})", "siblings_b64"},
      {R"({"key_b64":"a2V5","siblings_b64":[null]})", "siblings_b64"},
  };
  for (const auto& [line, named] : cases) {
    const Status status = parse_load_line(line).status();
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument) << line;
    EXPECT_NE(status.message().find(named), std::string::npos) << line << " -> " << status.message();
  }
}

}  // namespace
}  // namespace ringkv::tools
