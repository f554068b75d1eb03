#include "node/frame.h"

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"

namespace ringkv {
namespace {

std::string frame_of(std::string_view message, std::string_view values) {
  std::string out = "before";  // frames are appended to what is there
  FrameWriter frame(out, FrameType::kClientRequest, 17, 9);
  out += message;
  frame.begin_values();
  out += values;
  frame.finish();
  return out.substr(6);
}

TEST(Frame, ComesBackAsItWasWritten) {
  const std::string bytes = frame_of("message", "values");
  ASSERT_EQ(bytes.size(), kFrameHeaderBytes + 13);

  const std::string stream = bytes + "the next one";
  const Result<std::optional<Frame>> frame = read_frame(stream, kFrameBytesMax);

  ASSERT_TRUE(frame.ok() && frame->has_value());
  EXPECT_EQ((*frame)->type, FrameType::kClientRequest);
  EXPECT_EQ((*frame)->request, 17U);
  EXPECT_EQ((*frame)->epoch, 9U);
  EXPECT_EQ((*frame)->message, "message");
  EXPECT_EQ((*frame)->values, "values");
  EXPECT_EQ((*frame)->bytes, bytes.size());
}

TEST(Frame, AFrameWithoutValuesNeedsNoWordAboutThem) {
  std::string bytes;
  FrameWriter frame(bytes, FrameType::kHello, 0, 0);
  bytes += "message";
  frame.finish();

  const auto read = read_frame(bytes, kUnauthenticatedFrameBytesMax);
  ASSERT_TRUE(read.ok() && read->has_value());
  EXPECT_EQ((*read)->message, "message");
  EXPECT_EQ((*read)->values, "");
}

// The header as node/frame.h draws it; other programs read it so.
TEST(Frame, LiesOnTheStreamAsDrawn) {
  const std::string bytes = frame_of("mm", "v");
  ByteReader reader(bytes);
  EXPECT_EQ(reader.u32(), 31U);
  EXPECT_EQ(reader.u32(), 0xFE565AAFU);
  EXPECT_EQ(reader.u8(), 16U);
  EXPECT_EQ(reader.bytes(3), std::string_view("\0\0\0", 3));
  EXPECT_EQ(reader.u32(), 2U);
  EXPECT_EQ(reader.u64(), 17U);
  EXPECT_EQ(reader.u64(), 9U);
  EXPECT_EQ(reader.rest(), "mmv");
}

TEST(Frame, APartOfOneIsAwaited) {
  const std::string bytes = frame_of("message", "values");
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto read = read_frame(std::string_view(bytes).substr(0, size), kFrameBytesMax);
    ASSERT_TRUE(read.ok()) << size;
    EXPECT_FALSE(read->has_value()) << size;
  }
}

TEST(Frame, EveryFlippedBitIsFound) {
  const std::string bytes = frame_of("message", "values");
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string wrong = bytes;
    wrong[bit / 8] = static_cast<char>(wrong[bit / 8] ^ 1 << bit % 8);
    const auto read = read_frame(wrong, kFrameBytesMax);
    EXPECT_TRUE(!read.ok() || !read->has_value()) << "bit " << bit;
  }
}

// What other programs send first: it is refused from its first bytes, nothing is waited for.
TEST(Frame, AnImpossibleLengthIsRefusedAtOnce) {
  for (const std::string_view first :
       {std::string_view("\xFF\xFF\xFF\x7F", 4), std::string_view("\xFF\xFF\xFF\xFF", 4),
        std::string_view("\0\0\0\0", 4), std::string_view("\x1B\0\0\0", 4),
        std::string_view("GET / HTTP/1.1"), std::string_view("\x16\x03\x01\x02\x00\x01", 6),
        std::string_view("SSH-2.0")}) {
    EXPECT_EQ(read_frame(first, kFrameBytesMax).status().code(), StatusCode::kInvalidArgument) << first;
  }
}

TEST(Frame, TheBoundIsTheCallers) {
  const std::string bytes = frame_of(std::string(5000, 'm'), "");
  EXPECT_TRUE(read_frame(bytes, bytes.size()).ok());
  EXPECT_FALSE(read_frame(bytes, bytes.size() - 1).ok());
  EXPECT_FALSE(read_frame(std::string_view(bytes).substr(0, 4), kUnauthenticatedFrameBytesMax).ok());
}

TEST(Frame, RandomBytesNeverPassAndNeverHarm) {
  SeededRandom random(1);
  for (int i = 0; i < 100'000; ++i) {
    std::string bytes(random.below(80), '\0');
    for (char& byte : bytes) byte = static_cast<char>(random.next());
    if (bytes.size() >= 4 && random.one_in(2)) bytes[2] = bytes[3] = '\0';  // a possible length
    const auto read = read_frame(bytes, kFrameBytesMax);
    EXPECT_FALSE(read.ok() && read->has_value());
  }
}

}  // namespace
}  // namespace ringkv
