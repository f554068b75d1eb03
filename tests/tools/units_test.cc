#include "tools/common/units.h"

#include <gtest/gtest.h>

namespace ringkv::tools {
namespace {

TEST(Duration, HasAUnit) {
  EXPECT_EQ(parse_duration("500ms")->count(), 500);
  EXPECT_EQ(parse_duration("5s")->count(), 5000);
  EXPECT_EQ(parse_duration("1.5s")->count(), 1500);
  EXPECT_EQ(parse_duration("1m")->count(), 60'000);
  EXPECT_EQ(parse_duration("2h")->count(), 7'200'000);
}

TEST(Duration, IsRefusedWhenItIsNotOne) {
  for (const char* text :
       {"", "5", "s", "-1s", "5 s", "5x", "1e3s", "nans", "infs", "5ss", "99999999999999d"})
    EXPECT_EQ(parse_duration(text).status().code(), StatusCode::kInvalidArgument) << text;
}

TEST(Duration, ComesBackFromItsText) {
  for (const int64_t ms : {0, 1, 1000, 1500, 60'000, 90'000, 86'400'000}) {
    const std::string text = duration_text(std::chrono::milliseconds(ms));
    EXPECT_EQ(parse_duration(text)->count(), ms) << text;
  }
  EXPECT_EQ(duration_text(std::chrono::milliseconds(90'000)), "90s");
}

TEST(Size, IsBytesOrHasAUnit) {
  EXPECT_EQ(*parse_size("4096"), 4096U);
  EXPECT_EQ(*parse_size("64KiB"), 65'536U);
  EXPECT_EQ(*parse_size("256MiB"), uint64_t{256} << 20);
  EXPECT_EQ(*parse_size("1GiB"), uint64_t{1} << 30);
  EXPECT_EQ(*parse_size("1.5GiB"), uint64_t{3} << 29);
  EXPECT_EQ(*parse_size("1GB"), 1'000'000'000U);
}

TEST(Size, IsRefusedWhenItIsNotOne) {
  for (const char* text : {"", "MiB", "-1", "1 MiB", "1mib", "1XB", "9999999TiB"})
    EXPECT_EQ(parse_size(text).status().code(), StatusCode::kInvalidArgument) << text;
}

TEST(Size, ComesBackFromItsText) {
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{1023}, uint64_t{1024}, uint64_t{3} << 29}) {
    EXPECT_EQ(*parse_size(size_text(bytes)), bytes) << size_text(bytes);
  }
  EXPECT_EQ(size_text(uint64_t{256} << 20), "256MiB");
}

TEST(Counted, AgreesWithItsNoun) {
  EXPECT_EQ(counted(0, "line"), "0 lines");
  EXPECT_EQ(counted(1, "line"), "1 line");
  EXPECT_EQ(counted(2, "line"), "2 lines");
}

TEST(Address, IsAHostAndAPort) {
  EXPECT_EQ(parse_address("127.0.0.1:7401")->port, 7401);
  EXPECT_EQ(parse_address("node-1.example:0")->host, "node-1.example");
  EXPECT_EQ(parse_address("[::1]:7401")->host, "::1");
}

TEST(Address, IsRefusedWhenItIsNotOne) {
  for (const char* text :
       {"", "7401", "host", ":7401", "host:", "host:x", "host:65536", "host:-1", "::1:7401", "[]:1"})
    EXPECT_EQ(parse_address(text).status().code(), StatusCode::kInvalidArgument) << text;
}

}  // namespace
}  // namespace ringkv::tools
