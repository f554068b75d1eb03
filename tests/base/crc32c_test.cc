#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <array>

#include "base/random.h"

namespace ringkv {
namespace {

using Crc = uint32_t (*)(std::string_view, uint32_t);

// Each way must be right by itself: the first is whatever this processor offers, the second is what any does.
class Crc32c : public testing::TestWithParam<Crc> {};
INSTANTIATE_TEST_SUITE_P(BothWays, Crc32c, testing::Values(&crc32c, &crc32c_by_table));

std::string counting(int from, int step) {
  std::string bytes;
  for (int i = 0; i < 32; ++i) bytes.push_back(static_cast<char>(from + step * i));
  return bytes;
}

// RFC 3720, appendix B.4, and the check value of the CRC catalogue.
TEST_P(Crc32c, EqualsThePublishedVectors) {
  const Crc crc = GetParam();
  EXPECT_EQ(crc("123456789", 0), 0xE3069283U);
  EXPECT_EQ(crc(std::string(32, '\0'), 0), 0x8A9136AAU);
  EXPECT_EQ(crc(std::string(32, '\xFF'), 0), 0x62A8AB43U);
  EXPECT_EQ(crc(counting(0, 1), 0), 0x46DD794EU);
  EXPECT_EQ(crc(counting(31, -1), 0), 0x113FDB5CU);
  EXPECT_EQ(crc("", 0), 0U);

  // clang-format off
  const std::array<uint8_t, 48> scsi_read = {
      0x01, 0xC0, 0, 0, 0, 0, 0, 0,        0, 0, 0, 0, 0, 0, 0, 0,
      0x14, 0, 0, 0, 0, 0, 0x04, 0,        0, 0, 0, 0x14, 0, 0, 0, 0x18,
      0x28, 0, 0, 0, 0, 0, 0, 0,           0x02, 0, 0, 0, 0, 0, 0, 0};
  // clang-format on
  EXPECT_EQ(crc({reinterpret_cast<const char*>(scsi_read.data()), scsi_read.size()}, 0), 0xD9963A56U);
}

TEST_P(Crc32c, IsTheSameInOnePieceAndInSeveral) {
  const Crc crc = GetParam();
  SeededRandom random(1);
  std::string bytes;
  for (int i = 0; i < 100; ++i) bytes.push_back(static_cast<char>(random.next()));
  const std::string_view all = bytes;
  for (size_t cut = 0; cut <= all.size(); ++cut) {
    EXPECT_EQ(crc(all.substr(cut), crc(all.substr(0, cut), 0)), crc(all, 0)) << cut;
  }
}

TEST(Crc32cWays, AgreeAtEveryLengthAndAlignment) {
  SeededRandom random(2);
  std::string bytes;
  for (int i = 0; i < 300; ++i) bytes.push_back(static_cast<char>(random.next()));
  for (size_t from = 0; from < 9; ++from) {
    for (size_t size = 0; size + from <= bytes.size(); ++size) {
      const std::string_view piece = std::string_view(bytes).substr(from, size);
      ASSERT_EQ(crc32c(piece, 7), crc32c_by_table(piece, 7)) << from << " " << size;
    }
  }
}

}  // namespace
}  // namespace ringkv
