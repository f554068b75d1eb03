#include "base/text.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(Text, HexHasSixteenDigitsAndComesBack) {
  EXPECT_EQ(hex(0xda39a3ee5e6b4b0dULL), "da39a3ee5e6b4b0d");
  EXPECT_EQ(hex(1), "0000000000000001");
  EXPECT_EQ(from_hex("da39a3ee5e6b4b0d"), 0xda39a3ee5e6b4b0dULL);
  EXPECT_EQ(from_hex(""), std::nullopt);
  EXPECT_EQ(from_hex("12g"), std::nullopt);
  EXPECT_EQ(from_hex("11112222333344445"), std::nullopt);
}

TEST(Text, BytesOutsidePrintableAsciiAreEscaped) {
  EXPECT_EQ(escaped(std::string_view("a\0\n\xFF\\z", 6)), "a\\x00\\x0a\\xff\\x5cz");
}

TEST(Text, ALongKeyIsCutInMessages) {
  EXPECT_EQ(display_key("k"), "'k'");
  EXPECT_EQ(display_key(std::string(70000, 'k')), "'" + std::string(64, 'k') + "…' (70000 bytes)");
}

// RFC 4648, section 10.
TEST(Text, Base64IsTheStandardOne) {
  const std::pair<std::string, std::string> vectors[] = {{"", ""},
                                                         {"f", "Zg=="},
                                                         {"fo", "Zm8="},
                                                         {"foo", "Zm9v"},
                                                         {"foob", "Zm9vYg=="},
                                                         {"fooba", "Zm9vYmE="},
                                                         {"foobar", "Zm9vYmFy"}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(base64(bytes), text);
    EXPECT_EQ(from_base64(text), bytes);
  }
  for (const char* wrong : {"Z", "Zg=", "Zg==Zg==", "Z===", "Zm9v!A=="})
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

TEST(Text, EveryByteSurvivesBase64) {
  std::string all;
  for (int i = 0; i < 256; ++i) all.push_back(static_cast<char>(i));
  EXPECT_EQ(from_base64(base64(all)), all);
}

TEST(Text, TheNearestNameIsFoundAndAFarOneIsNot) {
  const std::vector<std::string> names = {"replicas", "partitions", "placer"};
  EXPECT_EQ(nearest("replcias", names), "replicas");
  EXPECT_EQ(nearest("placr", names), "placer");
  EXPECT_EQ(nearest("zzzzzz", names), std::nullopt);
}

TEST(Text, BytesHaveUnits) {
  EXPECT_EQ(human_bytes(0), "0 bytes");
  EXPECT_EQ(human_bytes(1536), "1.5 KiB");
  EXPECT_EQ(human_bytes(1ULL << 30), "1 GiB");
}

}  // namespace
}  // namespace ringkv
