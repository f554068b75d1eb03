#include "base/token.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace ringkv {
namespace {

// printf '' | sha1sum; printf a | sha1sum.
TEST(Token, IsTheFirstEightBytesOfSha1) {
  EXPECT_EQ(hex(token_of(digest_of("", ""))), "da39a3ee5e6b4b0d");
  EXPECT_EQ(hex(token_of(digest_of("", "a"))), "86f7e437faa5a7fc");
}

TEST(Token, OfAnotherBucketHashesItsNameAZeroByteAndTheKey) {
  EXPECT_EQ(digest_of("b", "k"), sha1_of(std::string_view("b\0k", 3)));
  EXPECT_NE(digest_of("b", "k"), digest_of("", "bk"));
}

TEST(Token, PartitionIsItsTopBits) {
  EXPECT_EQ(partition_of(0xda39a3ee5e6b4b0dULL, 4096), 0xda3U);
  EXPECT_EQ(partition_of(~0ULL, 65536), 65535U);
  EXPECT_EQ(partition_of(~0ULL, 1), 0U);
  EXPECT_EQ(first_token_of(0xda3, 4096), 0xda30000000000000ULL);
  EXPECT_EQ(first_token_of(0, 1), 0U);
  for (const Partition p : {0U, 1U, 77U, 4095U}) EXPECT_EQ(partition_of(first_token_of(p, 4096), 4096), p);
}

}  // namespace
}  // namespace ringkv
