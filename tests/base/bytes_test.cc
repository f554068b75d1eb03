#include "base/bytes.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

TEST(Bytes, ReadBackWhatWasWritten) {
  std::string out;
  ByteWriter writer(out);
  writer.u8(7);
  writer.u32(0xDEADBEEF);
  writer.u64(~0ULL);
  writer.f64(0.5);
  writer.varint(0);
  writer.varint(127);
  writer.varint(128);
  writer.varint(~0ULL);
  writer.string(std::string_view("a\0b", 3));

  ByteReader reader(out);
  EXPECT_EQ(reader.u8(), 7);
  EXPECT_EQ(reader.u32(), 0xDEADBEEF);
  EXPECT_EQ(reader.u64(), ~0ULL);
  EXPECT_EQ(reader.f64(), 0.5);
  EXPECT_EQ(reader.varint(), 0U);
  EXPECT_EQ(reader.varint(), 127U);
  EXPECT_EQ(reader.varint(), 128U);
  EXPECT_EQ(reader.varint(), ~0ULL);
  EXPECT_EQ(reader.string(3), std::string_view("a\0b", 3));
  EXPECT_TRUE(reader.finished());
}

TEST(Bytes, AnythingCutShortFailsAndReadsAsZero) {
  std::string out;
  ByteWriter writer(out);
  writer.u64(1);
  writer.string("value");
  for (size_t size = 0; size < out.size(); ++size) {
    ByteReader reader(std::string_view(out).substr(0, size));
    reader.u64();
    reader.string(100);
    EXPECT_FALSE(reader.ok()) << size;
    EXPECT_EQ(reader.u64(), 0U);
  }
}

TEST(Bytes, ALengthOrCountThatCannotBeTrueIsRefusedBeforeAnythingIsReserved) {
  std::string out;
  ByteWriter(out).varint(1'000'000'000);
  ByteReader as_string(out);
  EXPECT_EQ(as_string.string(100), "");
  EXPECT_FALSE(as_string.ok());

  ByteReader as_count(out);
  EXPECT_EQ(as_count.count(1), 0U);
  EXPECT_FALSE(as_count.ok());
}

TEST(Bytes, AVarintOfMoreThan64BitsIsRefused) {
  const std::string endless(11, '\xFF');
  ByteReader reader(endless);
  reader.varint();
  EXPECT_FALSE(reader.ok());

  const std::string too_big = std::string(9, '\xFF') + '\x02';
  ByteReader second(too_big);
  second.varint();
  EXPECT_FALSE(second.ok());
}

}  // namespace
}  // namespace ringkv
