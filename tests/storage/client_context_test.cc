#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/crc32c.h"
#include "storage/record_codec.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;

constexpr Token kToken = 0xA9993E364706816A;

const CausalContext kSeen = context({{kA, 1}, {kB, 300}, {kC, ~0ULL}}, 1'700'000'000'000'000);

void expect_refused(std::string_view bytes, Token token) {
  const Result<CausalContext> read = decode_client_context(bytes, token);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.status().code(), StatusCode::kInvalidArgument);
}

std::string with_checksum(std::string bytes) {
  ByteWriter(bytes).u32(crc32c(bytes));
  return bytes;
}

TEST(ClientContext, ComesBackAsItWasGiven) {
  for (const CausalContext& seen : {kSeen, CausalContext{}}) {
    const Result<CausalContext> read = decode_client_context(encode_client_context(seen, kToken), kToken);
    ASSERT_TRUE(read.ok());
    EXPECT_EQ(*read, seen);
  }
}

// B103: the context of one key sent with another, cut, or with flipped bits.
TEST(ClientContext, OfAnotherKeyIsRefused) {
  const std::string bytes = encode_client_context(kSeen, kToken);
  expect_refused(bytes, kToken + 1);
  EXPECT_NE(decode_client_context(bytes, 1).status().message().find("another key"), std::string::npos);
}

TEST(ClientContext, CutShortOrLengthenedIsRefused) {
  const std::string bytes = encode_client_context(kSeen, kToken);
  for (size_t size = 0; size < bytes.size(); ++size) {
    expect_refused(std::string_view(bytes).substr(0, size), kToken);
  }
  expect_refused(bytes + '\0', kToken);
}

TEST(ClientContext, WithAnyFlippedBitIsRefused) {
  const std::string bytes = encode_client_context(kSeen, kToken);
  for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    expect_refused(damaged, kToken);
  }
}

TEST(ClientContext, MadeUpWithARightChecksumIsStillReadWithCare) {
  const auto made_up = [](const std::vector<Dot>& entries, uint64_t count) {
    std::string bytes;
    ByteWriter writer(bytes);
    writer.u8(1);
    writer.u64(kToken);
    writer.u64(0);
    writer.varint(count);
    for (const Dot& entry : entries) {
      writer.u64(entry.actor.node.value);
      writer.u64(entry.actor.boot.value);
      writer.varint(entry.counter);
    }
    return with_checksum(bytes);
  };
  ASSERT_TRUE(decode_client_context(made_up({{kA, 1}, {kB, 1}}, 2), kToken).ok());
  expect_refused(made_up({{kB, 1}, {kA, 1}}, 2), kToken);
  expect_refused(made_up({{kA, 1}, {kA, 2}}, 2), kToken);
  expect_refused(made_up({{kA, 0}}, 1), kToken);
  expect_refused(made_up({{kA, 1}}, 2), kToken);
  expect_refused(made_up({{kA, 1}, {kB, 1}}, 1), kToken);
  expect_refused(made_up({}, ~0ULL), kToken);

  std::vector<Dot> too_many;
  for (uint64_t i = 0; i <= kContextActorsMax; ++i) too_many.push_back({actor(1, i), 1});
  expect_refused(made_up(too_many, too_many.size()), kToken);
  expect_refused(with_checksum("\2 of another format"), kToken);
}

}  // namespace
}  // namespace ringkv
