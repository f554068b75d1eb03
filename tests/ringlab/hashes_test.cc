// Golden vectors: from the published ones (FNV's and MurmurHash3's own, sha1sum), the rest from an
// independent script.
#include "tools/ringlab/hashes.h"

#include <gtest/gtest.h>

#include "tools/ringlab/java_random.h"

namespace ringkv::ringlab {
namespace {

using namespace std::string_literals;

struct Golden {
  std::string bytes;
  uint64_t sha1;
  uint64_t fnv1a32;
  uint64_t fnv1a32_fmix32;
  uint64_t murmur3_128;
};

// The bytes begin, begin + 1, … modulo 256.
std::string counting(size_t begin, size_t end) {
  std::string bytes;
  for (size_t i = begin; i < end; ++i) bytes.push_back(static_cast<char>(i % 256));
  return bytes;
}

const std::vector<Golden> kGolden = {
    {"", 0xda39a3ee5e6b4b0d, 0x811c9dc5, 0xab3e7c0b, 0},
    {"a", 0x86f7e437faa5a7fc, 0xe40c292c, 0x1a80b1b3, 0x85555565f6597889},
    {"hello", 0xaaf4c61ddcc5e8a2, 0x4f9f2cab, 0x888d766e, 0xcbd8a7b341bd9b02},
    {"\0"s, 0x5ba93c9db0cff93f, 0x050c5d1f, 0x0578ab1b, 0x4610abe56eff5cb5},
    {"a\0b"s, 0x4a3dec2d1f824528, 0x10f3abd2, 0x5d40db2d, 0x2def92d2c1e6b5db},
    {"\x80\xff", 0x6290103200631075, 0xd1390020, 0xaf988fff, 0x105dbffe2ee99524},
    {counting(0, 15), 0xfb1d9241f67827ce, 0x8d1126b8, 0xb29df4ba, 0x47231598fd4925e9},
    {counting(240, 256), 0x329dfdcaac0c9f3e, 0x6cfe3e15, 0xd8f4b0a1, 0x81ec85cc614a221c},
    {counting(0, 17), 0x0a0315ec7b1e22a7, 0x6fe9fddf, 0x3c3796f4, 0x5c76f40f9fe7c20e},
    {counting(0, 1000), 0xaf0b191c2de46fe1, 0x655c5ffd, 0xa2557fbe, 0x787648dc2c47eea3},
};

TEST(Hashes, GiveTheGoldenValues) {
  for (const Golden& golden : kGolden) {
    SCOPED_TRACE(testing::Message() << golden.bytes.size() << " bytes");
    EXPECT_EQ(hash_named("sha1")(golden.bytes), golden.sha1);
    EXPECT_EQ(hash_named("fnv1a32")(golden.bytes), golden.fnv1a32);
    EXPECT_EQ(hash_named("fnv1a32+fmix32")(golden.bytes), golden.fnv1a32_fmix32);
    EXPECT_EQ(hash_named("murmur3_128")(golden.bytes), golden.murmur3_128);
  }
}

TEST(Hashes, GiveThePublishedValues) {
  EXPECT_EQ(fnv1a32("foobar"), 0xbf9cf968);
  EXPECT_EQ(murmur3_128("The quick brown fox jumps over the lazy dog"), 0xe34bbc7bbc071b6c);
}

TEST(Hashes, AShortOneIsStretchedOverTheWholeCircle) {
  EXPECT_EQ(hash_named("fnv1a32").stretched(0x8000'0000), uint64_t{1} << 63);
  EXPECT_EQ(hash_named("sha1").stretched(7), 7U);
}

// new Random(42).nextInt() gives -1170105035, 234785527, -1360544799, 205897768: all 32 bits. A bounded draw
// has the upper 31 of them: their top bits for a power of two, else the remainder.
TEST(JavaRandom, DrawsWhatJavaDraws) {
  JavaRandom top_bits(42);
  JavaRandom remainders(42);
  for (const int32_t drawn : {-1170105035, 234785527, -1360544799, 205897768}) {
    EXPECT_EQ(top_bits.next_int(1 << 30), static_cast<uint32_t>(drawn) >> 2);
    EXPECT_EQ(remainders.next_int(100), (static_cast<uint32_t>(drawn) >> 1) % 100);
  }
}

// A bound of two thirds of 2^31 throws a third of the draws away.
TEST(JavaRandom, IsUniformForABoundThatDoesNotDivide) {
  constexpr uint32_t kBound = 1'431'655'766;
  JavaRandom random(1);
  uint32_t low = 0;
  for (int i = 0; i < 10'000; ++i) low += random.next_int(kBound) < kBound / 2 ? 1 : 0;
  EXPECT_NEAR(low, 5000, 200);
}

}  // namespace
}  // namespace ringkv::ringlab
