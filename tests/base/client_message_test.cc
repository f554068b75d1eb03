#include "base/client_message.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(OperationName, IsTextThatComesBack) {
  const OperationName name{{0x9F86D081884C7D65, 17}, {0x4A1B}};
  EXPECT_EQ(to_text(name), "9f86d081884c7d65.17@0000000000004a1b");
  const std::optional<OperationName> parsed = operation_name_from(to_text(name));
  ASSERT_TRUE(parsed.has_value());
  EXPECT_EQ(parsed->operation, name.operation);
  EXPECT_EQ(parsed->boot, name.boot);
}

TEST(OperationName, WhatIsNotOneIsRefused) {
  for (const char* wrong : {"", "1.2", "1@2", "1.2@", ".2@3", "1.@3", "1.x@3", "1.2@3@4", "1.-2@3", "1.2@g",
                            "1@2.3", "0.0@3", "1.2@0", "1.99999999999999999999@3", "1.2@3 "})
    EXPECT_FALSE(operation_name_from(wrong).has_value()) << wrong;
}

}  // namespace
}  // namespace ringkv
