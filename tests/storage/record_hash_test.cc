#include "storage/record_hash.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/text.h"
#include "storage/record_codec.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;

const std::string kSecret(32, 's');

Hash128 hash_of(const Record& record, std::string_view key = "key") {
  static const RecordHasher hasher(kSecret);
  return hasher.hash(digest_of("", key), record);
}

std::string text(const Hash128& hash) { return hex(hash.high) + hex(hash.low); }

Record sample_record() {
  Version second = value({kB, 2}, "second", 20);
  second.expires_at_ms = 1'700'000'000'000;
  second.operation = {5, 6};
  second.source = Source::kHint;
  return {context({{kA, 1}, {kB, 2}}, 20), {value({kA, 1}, "first", 10), second}};
}

// Hashes are stored and compared between versions of ringkv: a change here is a change of format. The values
// were computed by a separate program from the description in record_hash.cc.
TEST(RecordHash, HasTheValuesThatItAlwaysHad) {
  EXPECT_EQ(text(hash_of({context({{kA, 1}}), {value({kA, 1}, "")}})), "fdfe926e94893850b513e01ff34b97fe");
  EXPECT_EQ(text(hash_of({context({{kA, 1}}), {tombstone({kA, 1})}})), "05cd19ae769125c8adeeaba6031bb62e");
  EXPECT_EQ(text(hash_of(sample_record())), "958a070de59eb4a558b8fc1e2b3d7178");
  EXPECT_EQ(text(hash_of({context({{kA, 1}}), {value({kA, 1}, std::string(100'000, 'x'))}})),
            "6892b3b8a1898ba8029b1e4a757e2290");
}

TEST(RecordHash, LeavesOutContextSourceAndOperation) {
  const Record record = sample_record();
  Record other = record;
  other.context = context({{kA, 9}, {kB, 9}, {kC, 9}}, 999);
  other.versions[1].operation = {};
  other.versions[1].source = Source::kTransfer;

  EXPECT_EQ(hash_of(other), hash_of(record));
}

TEST(RecordHash, IsTheSameAfterEncodingAndDecoding) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    const Record record = random_record(random);
    std::string bytes;
    encode_record(record, {}, 0, bytes);
    EXPECT_EQ(hash_of(*decode_record(bytes)), hash_of(record)) << "seed " << seed;
  }
}

TEST(RecordHash, DiffersWithEachFieldThatItCovers) {
  const std::vector<std::function<void(Record&)>> changes = {
      [](Record& record) { record.versions[0].dot.actor.node.value ^= 1; },
      [](Record& record) { record.versions[0].dot.actor.boot.value ^= 1; },
      [](Record& record) { record.versions[0].dot.counter ^= 1; },
      [](Record& record) { record.versions[0].kind = VersionKind::kTombstone; },
      [](Record& record) { record.versions[0].time ^= 1; },
      [](Record& record) { record.versions[0].expires_at_ms = 1; },
      [](Record& record) { record.versions[0].value = "fjrst"; },
      [](Record& record) { record.versions[0].value += '\0'; },
      [](Record& record) { record.versions.pop_back(); },
      [](Record& record) { record.versions[0].value.swap(record.versions[1].value); },
  };
  for (size_t i = 0; i < changes.size(); ++i) {
    Record changed = sample_record();
    changes[i](changed);
    EXPECT_NE(hash_of(changed), hash_of(sample_record())) << "change " << i;
  }
  EXPECT_NE(hash_of(sample_record(), "other key"), hash_of(sample_record()));
}

TEST(RecordHash, TellsAnEmptyValueATombstoneAndAnAbsentKeyApart) {
  const Hash128 empty = hash_of({context({{kA, 1}}), {value({kA, 1}, "")}});
  const Hash128 deleted = hash_of({context({{kA, 1}}), {tombstone({kA, 1})}});
  EXPECT_NE(empty, deleted);
  EXPECT_NE(empty, Hash128{});
  EXPECT_NE(deleted, Hash128{});
  EXPECT_EQ(hash_of({}), Hash128{});
}

TEST(RecordHash, OfABareContextIsOverTheContext) {
  const Hash128 bare = hash_of({context({{kA, 1}}), {}});
  EXPECT_NE(bare, Hash128{});
  EXPECT_NE(bare, hash_of({context({{kA, 2}}), {}}));
  EXPECT_NE(bare, hash_of({context({{kA, 1}}), {tombstone({kA, 1})}}));
  EXPECT_NE(bare, hash_of({context({{kA, 1}}), {}}, "other key"));
}

TEST(RecordHash, DependsOnEveryBitOfTheSecret) {
  for (size_t bit = 0; bit < 8 * kSecret.size(); ++bit) {
    std::string other = kSecret;
    other[bit / 8] = static_cast<char>(other[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_NE(RecordHasher(other).hash(digest_of("", "key"), sample_record()), hash_of(sample_record()))
        << bit;
  }
}

TEST(ContentBytes, AreTheKeysAndTheValues) {
  EXPECT_EQ(content_bytes("key", sample_record()), 3U + 5U + 6U);
  EXPECT_EQ(content_bytes("key", {context({{kA, 1}}), {value({kA, 1}, "")}}), 3U);
}

TEST(ContentBytes, AreNoneOfAKeyThatIsDeleted) {
  EXPECT_EQ(content_bytes("key", {context({{kA, 1}}), {tombstone({kA, 1})}}), 0U);
}

// A record that only keeps a context is no key to a leaf, and a replica may be without it.
TEST(ContentBytes, AreNoneWithoutVersions) { EXPECT_EQ(content_bytes("key", {context({{kA, 1}}), {}}), 0U); }

}  // namespace
}  // namespace ringkv
