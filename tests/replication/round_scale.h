// Many keys on two nodes, and what a repair of the second from the first costs in messages.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "tests/replication/round_bytes.h"
#include "tests/replication/round_fixture.h"

namespace ringkv {

class RoundScale {
 public:
  explicit RoundScale(const RoundFixture::Settings& settings)
      : partitions_(settings.partitions), cluster(settings) {
    cluster.on_written = [this](auto& from, auto& letter) {
      if (from.id == letter.to) return;
      ++letters;
      bytes += round_bytes(letter.message);
    };
  }

  static std::string key(uint64_t number) { return "key:" + std::to_string(number); }

  // Random bytes, so that no disk can make them smaller.
  static std::string value(uint64_t number, size_t bytes) {
    SeededRandom random(number);
    std::string value(bytes, '\0');
    for (char& c : value) c = static_cast<char>(random.next());
    return value;
  }

  // Stamped by the first node, merged by all of `numbers`.
  void load(uint64_t first, uint64_t count, size_t value_bytes, const std::vector<uint64_t>& numbers) {
    for (uint64_t i = first; i < first + count; ++i) stage(i, value_bytes, numbers);
    for (const uint64_t number : numbers) commit(number);
  }
  // The same of the first `count` keys behind `first` that are in partitions below `end`.
  void load_into(Partition end, uint64_t first, uint64_t count, size_t value_bytes,
                 const std::vector<uint64_t>& numbers) {
    for (uint64_t i = first; count > 0; ++i) {
      if (RoundFixture::place(key(i), partitions_).partition >= end) continue;
      stage(i, value_bytes, numbers);
      --count;
    }
    for (const uint64_t number : numbers) commit(number);
  }

  RepairReport repair() {
    letters = bytes = 0;
    return cluster.repaired(2);
  }

 private:
  static constexpr size_t kBatchBytes = size_t{4} << 20;

  void stage(uint64_t i, size_t value_bytes, const std::vector<uint64_t>& numbers) {
    const Place place = RoundFixture::place(key(i), partitions_);
    RecordStore& stamper = *cluster.node(1).store;
    const Dot dot = stamper.next_dot();
    Record record;
    record.versions = {{.dot = dot, .time = cluster.wall_now, .value = value(i, value_bytes)}};
    record.context.vector.raise(dot.actor, dot.counter);
    record.context.highest_time = cluster.wall_now;
    const EncodedRecord encoded = stamper.encoded(place, key(i), record);
    for (const uint64_t number : numbers) {
      RecordStore& store = *cluster.node(number).store;
      store.stage(place, encoded, newest_head(cluster.node(number), place));
      if (store.staged_bytes() > kBatchBytes) commit(number);
    }
  }

  static RecordHead newest_head(RoundFixture::Node& node, const Place& place) {
    if (const std::optional<RecordHead> head = *node.store->newest_head(place)) return *head;
    std::string bytes;
    const Result<Lookup> found = node.engine->get(Family::kData, place.storage_key, bytes);
    return found.ok() && *found == Lookup::kFound ? *decode_record_head(bytes) : RecordHead();
  }

  void commit(uint64_t number) {
    RoundFixture::Node& node = cluster.node(number);
    cluster.begin_commit(node);
    cluster.finish_commit(node);
  }

  const uint32_t partitions_;

 public:
  RoundFixture cluster;
  size_t letters = 0;  // of the last repair
  size_t bytes = 0;
};

}  // namespace ringkv
