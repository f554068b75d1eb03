#include "base/address.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(Address, NamesAndBothKindsOfIpComeApartAndTogetherAgain) {
  const std::pair<std::string, HostPort> vectors[] = {{"localhost:7401", {"localhost", 7401}},
                                                      {"127.0.0.1:0", {"127.0.0.1", 0}},
                                                      {"[::1]:65535", {"::1", 65535}}};
  for (const auto& [text, parts] : vectors) {
    const Result<HostPort> parsed = host_port_from(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(*parsed, parts);
    EXPECT_EQ(parts.to_text(), text);
  }
}

TEST(Address, WhatIsNotHostAndPortIsRefusedByName) {
  for (const std::string wrong : {"", "localhost", ":7401", "localhost:", "localhost:65536", "localhost:-1",
                                  "localhost:74 01", "::1:7401", "[]:7401", "localhost:7401x"}) {
    const Result<HostPort> parsed = host_port_from(wrong);
    ASSERT_FALSE(parsed.ok()) << wrong;
    EXPECT_EQ(parsed.status().code(), StatusCode::kInvalidArgument);
    EXPECT_NE(parsed.status().message().find("'" + wrong + "'"), std::string::npos);
  }
}

}  // namespace
}  // namespace ringkv
