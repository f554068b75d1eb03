#include "storage/record_codec.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/bytes.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;

constexpr Hash128 kHash{0x1111, 0x2222};
constexpr uint64_t kContentBytes = 12345;

std::string encoded(const Record& record) {
  std::string bytes;
  encode_record(record, kHash, kContentBytes, bytes);
  return bytes;
}

// What reads as a record must be one: in order, and able to go round once more.
void expect_sound(const std::string& bytes) {
  const Result<RecordHead> head = decode_record_head(bytes);
  const Result<Record> record = decode_record(bytes);
  if (!record.ok()) {
    EXPECT_EQ(record.status().code(), StatusCode::kCorruption);
    return;
  }
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->dots, dots_of(*record));
  EXPECT_EQ(head->context, record->context);
  for (size_t i = 1; i < head->dots.size(); ++i) EXPECT_LT(head->dots[i - 1], head->dots[i]);
  const Result<Record> again = decode_record(encoded(*record));
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, *record);
}

TEST(RecordCodec, ReadsBackWhatItWrote) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SeededRandom random(seed);
    Record record = random_record(random);
    if (random.one_in(2)) strip(record.context, record.context, actor(1));  // dots stay, entries go

    const std::string bytes = encoded(record);

    const Result<Record> read = decode_record(bytes);
    ASSERT_TRUE(read.ok()) << "seed " << seed << ": " << read.status().message();
    EXPECT_EQ(*read, record) << "seed " << seed;
    const Result<RecordHead> head = decode_record_head(bytes);
    ASSERT_TRUE(head.ok()) << "seed " << seed;
    EXPECT_EQ(*head, head_of(record, kHash, kContentBytes)) << "seed " << seed;
  }
}

TEST(RecordCodec, AppendsToWhatIsThere) {
  std::string out = "before";
  encode_record({}, kHash, 0, out);
  EXPECT_EQ(out.substr(0, 6), "before");
  EXPECT_EQ(*decode_record(out.substr(6)), Record{});
}

TEST(RecordCodec, KeepsTimesThatDifferFromTheHighest) {
  Record record{context({{kA, 1}, {kB, 1}}, 1000), {value({kA, 1}, "a", 0), value({kB, 1}, "b", 1000)}};
  EXPECT_EQ(*decode_record(encoded(record)), record);
  record.context.highest_time = 5;  // lower than a version's: not ours, but nothing gets lost
  EXPECT_EQ(*decode_record(encoded(record)), record);
}

// A format's bytes are what is on disks and on the wire: a change is a new format number.
TEST(RecordCodec, WritesTheBytesThatItAlwaysWrote) {
  Version hinted = value({kA, 300}, "xyz", 9);
  hinted.source = Source::kHint;
  hinted.expires_at_ms = 5;
  hinted.operation = {3, 4};
  const std::string bytes = encoded({context({{kA, 300}}, 10), {hinted}});

  std::string expected;
  ByteWriter writer(expected);
  writer.u8(1);
  writer.u64(0x1111);
  writer.u64(0x2222);
  writer.bytes("\xB9\x60");  // 12345
  writer.u64(10);
  writer.u8(0);  // not stripped
  writer.u8(1);
  writer.u64(1);
  writer.u64(1);
  writer.bytes({"\x01\x00\xAC\x02", 4});  // one entry: actor 0, counter 300
  writer.bytes({"\x01\x00\xAC\x02", 4});  // one dot
  writer.u8(0x10 | 0x20 | 2 << 1);
  writer.u8(1);  // 10 - 9
  writer.u8(5);
  writer.u64(3);
  writer.u8(4);
  writer.u8(3);
  writer.bytes("xyz");
  EXPECT_EQ(bytes, expected);
}

TEST(RecordCodec, AddsFewBytesToAValue) {
  const HybridTime now = 1'700'000'000'000'000;
  const Record record{context({{kA, 1000}}, now), {value({kA, 1000}, std::string(1024, 'v'), now)}};
  EXPECT_LE(encoded(record).size(), 1024U + 60U);
}

// The head lies in front of all values, so whoever only compares need not have read them.
TEST(RecordCodec, ReadsTheHeadWithoutTheValues) {
  const Record record{context({{kA, 1}, {kB, 1}}),
                      {value({kA, 1}, std::string(5000, 'a')), value({kB, 1}, std::string(5000, 'b'))}};
  const std::string bytes = encoded(record);
  const Result<RecordHead> head =
      decode_record_head(std::string_view(bytes).substr(0, bytes.size() - 10'000));
  ASSERT_TRUE(head.ok());
  EXPECT_EQ(head->dots, dots_of(record));
}

// Both read it from the bytes behind the head.
TEST(RecordCodec, TellsWhatMayGoSomeDay) {
  int transient = 0;
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    SeededRandom random(seed);
    const Record record = random_record(random);
    const bool expected = std::all_of(record.versions.begin(), record.versions.end(), [](const Version& v) {
      return v.kind == VersionKind::kTombstone || v.expires_at_ms != 0;
    });
    transient += !record.versions.empty() && expected ? 1 : 0;
    EXPECT_EQ(decode_record_head(encoded(record))->transient, expected) << seed;
    EXPECT_EQ(decode_record_outline(encoded(record))->head.transient, expected) << seed;
    EXPECT_EQ(head_of(record, kHash, 0).transient, expected) << seed;
  }
  EXPECT_GT(transient, 100);
}

TEST(RecordCodec, ReadsTheOutlineWithoutTheValuesAndSeesThatTheyAreThere) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    SeededRandom random(seed);
    Record record = sample::random_record(random);
    std::string bytes;
    encode_record(record, {seed, 1}, 17, bytes);
    const Result<RecordOutline> outline = decode_record_outline(bytes);
    ASSERT_TRUE(outline.ok()) << seed;
    EXPECT_EQ(outline->head, *decode_record_head(bytes)) << seed;
    for (Version& version : record.versions) version.value.clear();
    EXPECT_EQ(outline->versions, record.versions) << seed;
    EXPECT_FALSE(decode_record_outline(bytes + "x").ok()) << seed;
    EXPECT_FALSE(decode_record_outline(bytes.substr(0, bytes.size() - 1)).ok()) << seed;
  }
}

TEST(RecordHead, IsAbsentWithNeitherDotsNorContext) {
  EXPECT_TRUE(decode_record_head(encoded({}))->absent());
  EXPECT_FALSE(decode_record_head(encoded({context({{kA, 1}}), {}}))->absent());
}

TEST(RecordCodec, RefusesEveryTruncationAndEveryAddition) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    const std::string bytes = encoded(random_record(random));
    for (size_t size = 0; size < bytes.size(); ++size) {
      const Result<Record> cut = decode_record(std::string_view(bytes).substr(0, size));
      ASSERT_FALSE(cut.ok()) << "seed " << seed << " size " << size;
      ASSERT_EQ(cut.status().code(), StatusCode::kCorruption);
      (void)decode_record_head(std::string_view(bytes).substr(0, size));
    }
    EXPECT_FALSE(decode_record(bytes + '\0').ok());
  }
}

TEST(RecordCodec, SurvivesEveryFlippedBit) {
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SeededRandom random(seed);
    const std::string bytes = encoded(random_record(random));
    for (size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
      std::string damaged = bytes;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
      expect_sound(damaged);
    }
  }
}

TEST(RecordCodec, SurvivesRandomBytes) {
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    SeededRandom random(seed);
    std::string bytes = encoded(random_record(random));
    for (uint64_t n = 1 + random.below(4); n > 0; --n) {
      const size_t at = random.below(bytes.size());
      bytes.replace(at, random.below(3), std::string(random.below(3), static_cast<char>(random.next())));
      if (bytes.empty()) break;
    }
    expect_sound(bytes);
  }
}

// A record written by hand, to say what encode_record never would.
struct HandWritten {
  std::vector<Actor> actors = {kA, kB};
  std::vector<std::pair<uint64_t, uint64_t>> entries = {{0, 5}, {1, 5}};
  std::vector<std::pair<uint64_t, uint64_t>> dots = {{0, 1}, {0, 2}, {1, 1}};
  std::string attributes = {0, 0, 1};  // a value of one byte
  uint8_t format = 1;
  uint8_t stripped = 0;

  std::string bytes() const {
    std::string out;
    ByteWriter writer(out);
    writer.u8(format);
    writer.u64(0);
    writer.u64(0);
    writer.varint(0);
    writer.u64(100);
    writer.u8(stripped);
    writer.varint(actors.size());
    for (const Actor& actor : actors) {
      writer.u64(actor.node.value);
      writer.u64(actor.boot.value);
    }
    for (const auto& list : {entries, dots}) {
      writer.varint(list.size());
      for (const auto& [index, counter] : list) {
        writer.varint(index);
        writer.varint(counter);
      }
    }
    for (size_t i = 0; i < dots.size(); ++i) writer.bytes(attributes);
    writer.bytes(std::string(dots.size(), 'v'));
    return out;
  }
};

class Refused : public testing::Test {
 protected:
  static void expect_refused(const HandWritten& written) {
    const Result<Record> read = decode_record(written.bytes());
    ASSERT_FALSE(read.ok());
    EXPECT_EQ(read.status().code(), StatusCode::kCorruption);
    EXPECT_FALSE(decode_record_head(written.bytes()).ok());
  }
};

TEST_F(Refused, IsNotWhatIsWellFormed) { EXPECT_TRUE(decode_record(HandWritten{}.bytes()).ok()); }

TEST_F(Refused, IsAMarkThatIsNeitherStrippedNorNot) { expect_refused({.stripped = 2}); }

TEST_F(Refused, AreActorsOutOfOrderOrTwice) {
  expect_refused({.actors = {kB, kA}});
  expect_refused({.actors = {kA, kA}});
  expect_refused({.actors = {kB, kA}, .entries = {{0, 5}}, .dots = {{0, 1}}});
}

TEST_F(Refused, AreEntriesOutOfOrderOrTwice) {
  expect_refused({.entries = {{1, 5}, {0, 5}}});
  expect_refused({.entries = {{0, 5}, {0, 6}}});
}

TEST_F(Refused, AreDotsOutOfOrderOrTwice) {
  expect_refused({.dots = {{0, 2}, {0, 1}}});
  expect_refused({.dots = {{1, 1}, {0, 1}}});
  expect_refused({.dots = {{0, 1}, {0, 1}}});
}

TEST_F(Refused, AreCountersOfZeroAndUnknownActors) {
  expect_refused({.entries = {{0, 0}}});
  expect_refused({.dots = {{0, 0}}});
  expect_refused({.entries = {{2, 1}}});
  expect_refused({.dots = {{2, 1}}});
}

TEST_F(Refused, IsAnotherFormatByItsNumber) {
  expect_refused({.format = 2});
  EXPECT_NE(decode_record(HandWritten{.format = 2}.bytes()).status().message().find("format 2"),
            std::string::npos);
}

TEST_F(Refused, AreAttributesThatNobodyWrites) {
  for (const std::string& attributes :
       {std::string{0x40, 0, 1}, std::string{5 << 1, 0, 1}, std::string{0x10, 0, 0, 1},
        std::string{0x20, 0} + std::string(9, '\0') + '\1'}) {
    EXPECT_FALSE(decode_record(HandWritten{.attributes = attributes}.bytes()).ok());
  }
}

// The context of a stored record may lack what the floor covers.
TEST(RecordCodec, AcceptsADotThatTheContextDoesNotCover) {
  HandWritten written;
  written.entries = {{1, 5}};
  EXPECT_EQ(decode_record(written.bytes())->versions.size(), 3U);
}

TEST(RecordLimits, AreWhatDecodingAccepts) {
  Record record{context({{kA, kRecordVersionsMax}}), {}};
  for (uint64_t i = 1; i <= kRecordVersionsMax; ++i) record.versions.push_back(value({kA, i}, ""));
  for (uint64_t i = 1; i < kContextActorsMax; ++i) record.context.vector.raise(actor(2, i), 1);
  record.versions[0].value.assign(kValueBytesMax, 'v');
  EXPECT_TRUE(within_limits(record));
  EXPECT_TRUE(decode_record(encoded(record)).ok());

  Record too_many_versions = record;
  too_many_versions.versions.push_back(value({kA, kRecordVersionsMax + 1}, ""));
  EXPECT_FALSE(within_limits(too_many_versions));
  EXPECT_FALSE(decode_record(encoded(too_many_versions)).ok());

  Record too_many_actors = record;
  too_many_actors.context.vector.raise(kC, 1);
  EXPECT_FALSE(within_limits(too_many_actors));
  EXPECT_FALSE(decode_record(encoded(too_many_actors)).ok());

  Record too_large = record;
  too_large.versions[0].value.push_back('v');
  EXPECT_FALSE(within_limits(too_large));
  EXPECT_FALSE(decode_record(encoded(too_large)).ok());
}

}  // namespace
}  // namespace ringkv
