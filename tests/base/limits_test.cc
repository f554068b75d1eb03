#include "base/limits.h"

#include <gtest/gtest.h>

#include "ringkv/store.h"

namespace ringkv {
namespace {

TEST(Limits, KeysHaveOneToSixtyFourKibMinusOneBytes) {
  EXPECT_EQ(check_key("").code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(check_key("k").ok());
  EXPECT_TRUE(check_key(std::string(kKeyBytesMax, 'k')).ok());
  const Status over = check_key(std::string(kKeyBytesMax + 1, 'k'));
  EXPECT_EQ(over.code(), StatusCode::kTooLarge);
  EXPECT_NE(over.message().find("(65536 bytes): a key has at most 65535 bytes"), std::string::npos);
}

TEST(Limits, ValuesHaveUpToSixteenMib) {
  EXPECT_TRUE(check_value("k", 0).ok());
  EXPECT_TRUE(check_value("k", kValueBytesMax).ok());
  const Status over = check_value("k", kValueBytesMax + 1);
  EXPECT_EQ(over.code(), StatusCode::kTooLarge);
  EXPECT_EQ(over.message(), "key 'k': the value has 16777217 bytes; at most 16777216 (16 MiB)");
}

}  // namespace
}  // namespace ringkv
