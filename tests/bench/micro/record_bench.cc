// What is done to a key's record for a put, and to the leaf that counts it.
#include <benchmark/benchmark.h>

#include <string>

#include "storage/leaf_table.h"
#include "storage/record.h"
#include "storage/record_codec.h"
#include "storage/record_hash.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

const std::string kValue(100, 'v');

// As three nodes have written it in turn.
Record usual_record() {
  return sample::record_of(sample::value({sample::kA, 17}, kValue), {{sample::kB, 5}, {sample::kC, 9}});
}

RecordHasher hasher() { return RecordHasher(std::string(32, 's')); }

void stamp_a_blind_put(benchmark::State& state) {
  const Record current = usual_record();
  const Stamp stamp{.version = sample::value({sample::kA, 18}, kValue, 2), .context = std::nullopt};
  for (auto _ : state) benchmark::DoNotOptimize(stamped(current, stamp, Conflict::kSiblings));
}
BENCHMARK(stamp_a_blind_put);

void merge_with_a_newer_record(benchmark::State& state) {
  const Record own = usual_record();
  const Record newer =
      stamped(own, {.version = sample::value({sample::kB, 6}, kValue, 2), .context = std::nullopt},
              Conflict::kSiblings);
  for (auto _ : state) benchmark::DoNotOptimize(merge(own, newer));
}
BENCHMARK(merge_with_a_newer_record);

void merge_two_siblings(benchmark::State& state) {
  const Record one = sample::record_of(sample::value({sample::kA, 17}, kValue), {{sample::kC, 9}});
  const Record other = sample::record_of(sample::value({sample::kB, 5}, kValue), {{sample::kC, 9}});
  for (auto _ : state) benchmark::DoNotOptimize(merge(one, other));
}
BENCHMARK(merge_two_siblings);

void hash_of_a_record(benchmark::State& state) {
  const RecordHasher with = hasher();
  const Record record = usual_record();
  const KeyDigest key = sha1_of("bench:17");
  for (auto _ : state) benchmark::DoNotOptimize(with.hash(key, record));
}
BENCHMARK(hash_of_a_record);

void encode_a_record(benchmark::State& state) {
  const Record record = usual_record();
  const Hash128 hash = hasher().hash(sha1_of("bench:17"), record);
  std::string bytes;
  for (auto _ : state) {
    bytes.clear();
    encode_record(record, hash, content_bytes("bench:17", record), bytes);
    benchmark::DoNotOptimize(bytes.data());
  }
}
BENCHMARK(encode_a_record);

void decode_a_record(benchmark::State& state) {
  const Record record = usual_record();
  std::string bytes;
  encode_record(record, hasher().hash(sha1_of("bench:17"), record), content_bytes("bench:17", record), bytes);
  for (auto _ : state) benchmark::DoNotOptimize(decode_record(bytes));
}
BENCHMARK(decode_a_record);

// Where the old record's hash goes out and the new one's comes in; leaves anywhere in the table.
void update_a_leaf(benchmark::State& state) {
  constexpr uint32_t kPartitions = 4096;
  LeafTable leaves(kPartitions);
  uint64_t number = 0;
  for (auto _ : state) {
    const LeafId id = leaf_of(++number * 0x9E3779B97F4A7C15, kPartitions);
    Leaf leaf = leaves.at(id);
    leaf.hash ^= {number, ~number};
    leaf.keys += 1;
    leaf.bytes += kValue.size();
    leaves.set(id, leaf);
  }
}
BENCHMARK(update_a_leaf);

}  // namespace
}  // namespace ringkv
