#include "storage/leaf_journal.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/bytes.h"
#include "base/random.h"
#include "base/text.h"
#include "storage/memory_engine.h"

namespace ringkv {
namespace {

Leaf random_leaf(Random& random) {
  if (random.one_in(4)) return {};
  return {.hash = {.low = random.next(), .high = random.next()},
          .keys = random.below(1000),
          .bytes = random.below(1U << 20)};
}

// What the journal must come to: one state after each batch, kept by brute force.
struct Model {
  std::map<LeafId, Leaf> leaves;
  std::set<std::pair<BatchNumber, Partition>> waiting;  // since which batch
  uint64_t touches = 0;                                 // towards the next page
  BatchNumber oldest = 1;                               // entry on disk
  Boot boot;
  uint64_t counter = 0;

  bool is_waiting(Partition partition) const {
    return std::any_of(waiting.begin(), waiting.end(), [&](const auto& w) { return w.second == partition; });
  }
  void touch(LeafId id, const Leaf& leaf, BatchNumber number) {
    leaves[id] = leaf;
    const Partition partition = id / kLeavesPerPartition;
    if (!is_waiting(partition)) waiting.emplace(number, partition);
  }
  BatchNumber needed_from(BatchNumber number) const {
    return waiting.empty() ? number : waiting.begin()->first;
  }
  void end_batch(BatchNumber number, size_t leaves_touched) {
    touches += std::max<uint64_t>(leaves_touched, 64);
    for (; touches >= 1024 && !waiting.empty(); touches -= 1024) waiting.erase(waiting.begin());
    if (waiting.empty()) touches = 0;
    for (int erased = 0; erased < 8 && oldest < needed_from(number); ++erased) ++oldest;
  }
};

void expect_equal(RecoveredLeaves& recovered, const Model& model, BatchNumber number, uint32_t partitions) {
  ASSERT_EQ(recovered.end.number, number);
  EXPECT_EQ(recovered.end.oldest, model.oldest);
  EXPECT_EQ(recovered.end.stamper, (Stamper{model.boot, model.counter, number * 5}));
  ASSERT_EQ(recovered.leaves.partitions(), partitions);
  for (LeafId id = 0; id < partitions * kLeavesPerPartition; ++id) {
    const auto leaf = model.leaves.find(id);
    ASSERT_EQ(recovered.leaves.at(id), leaf == model.leaves.end() ? Leaf() : leaf->second) << "leaf " << id;
  }
  std::vector<WaitingPartition> waiting;
  for (const auto& [since, partition] : model.waiting) waiting.push_back({partition, since});
  ASSERT_EQ(recovered.waiting, waiting);
}

// The numbers of the entries on disk, oldest first.
std::vector<BatchNumber> entries_in(Engine& engine) {
  std::vector<BatchNumber> numbers;
  for (auto cursor = engine.seek(Family::kDigests, "j", "k"); cursor->valid(); cursor->next()) {
    BatchNumber inverted = 0;
    for (const char byte : cursor->key().substr(1)) inverted = inverted << 8 | static_cast<uint8_t>(byte);
    numbers.insert(numbers.begin(), ~inverted);
  }
  return numbers;
}

struct Load {
  uint32_t partitions;
  uint64_t touches_max;  // a batch
  uint64_t batches_max;  // a life
};

// A store that lives and dies, beside the model of it.
class JournalTrial {
 public:
  JournalTrial(uint64_t seed, Load load) : load_(load), random_(seed) {}

  void live_and_die() {
    ++boot_;
    {
      MemoryEngine engine(disk_);
      auto recovered = recover_leaves(engine, load_.partitions);
      ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
      const BatchNumber number = recovered->end.number;
      ASSERT_GE(number, synced_);
      ASSERT_TRUE(history_.contains(number));
      ASSERT_NO_FATAL_FAILURE(expect_equal(*recovered, history_.at(number), number, load_.partitions));
      history_.erase(history_.upper_bound(number), history_.end());
      history_.at(number).touches = 1024;  // a life begins with a page due
      ASSERT_NO_FATAL_FAILURE(expect_bounded(engine, number));

      LeafJournal journal(recovered->leaves, recovered->end, recovered->waiting);
      for (uint64_t left = random_.below(load_.batches_max); left > 0; --left) {
        ASSERT_NO_FATAL_FAILURE(commit_one(engine, recovered->leaves, journal));
        if (!random_.one_in(4)) continue;
        ASSERT_NO_FATAL_FAILURE(recover_a_copy());
      }
    }
    if (!random_.one_in(4)) disk_.crash(random_);
  }

  bool erased_late() const { return erased_late_; }
  bool paged_twice() const { return paged_twice_; }

 private:
  void commit_one(Engine& engine, LeafTable& leaves, LeafJournal& journal) {
    const BatchNumber number = journal.next_number();
    ASSERT_EQ(number, history_.rbegin()->first + 1);
    Model model = history_.rbegin()->second;
    std::set<LeafId> touched;
    for (uint64_t touches = random_.below(load_.touches_max + 1); touches > 0; --touches) {
      const auto id = static_cast<LeafId>(random_.below(load_.partitions * kLeavesPerPartition));
      leaves.set(id, random_leaf(random_));
      journal.touch(id);
      touched.insert(id);
      model.touch(id, leaves.at(id), number);
    }
    model.boot = Boot{boot_};
    model.counter = number * 3;
    const size_t waiting = model.waiting.size();
    model.end_batch(number, touched.size());
    if (waiting - model.waiting.size() > 1) paged_twice_ = true;
    if (model.oldest < model.needed_from(number)) erased_late_ = true;

    auto batch = engine.new_batch();
    journal.finish(*batch, {model.boot, model.counter, number * 5});
    const bool sync = random_.one_in(20);
    ASSERT_TRUE(engine.write(*batch, sync).ok());
    history_.emplace(number, std::move(model));
    if (!sync) return;
    synced_ = number;
    history_.erase(history_.begin(), history_.find(number));
  }

  // What a process that is killed now would leave.
  void recover_a_copy() {
    const auto copy = disk_.copy();
    MemoryEngine engine(*copy);
    auto recovered = recover_leaves(engine, load_.partitions);
    ASSERT_TRUE(recovered.ok()) << recovered.status().to_string();
    const auto& [number, model] = *history_.rbegin();
    ASSERT_NO_FATAL_FAILURE(expect_equal(*recovered, model, number, load_.partitions));
    ASSERT_NO_FATAL_FAILURE(expect_bounded(engine, number));
  }

  void expect_bounded(Engine& engine, BatchNumber newest) {
    std::vector<BatchNumber> expected;
    for (BatchNumber number = history_.at(newest).oldest; number <= newest && newest > 0; ++number) {
      expected.push_back(number);
    }
    ASSERT_EQ(entries_in(engine), expected);
    ASSERT_LE(expected.size(), load_.partitions * 16);
  }

  const Load load_;
  SeededRandom random_;
  MemoryDisk disk_;
  std::map<BatchNumber, Model> history_ = {{0, Model()}};  // from the newest synced batch on
  BatchNumber synced_ = 0;
  uint64_t boot_ = 0;
  bool erased_late_ = false;
  bool paged_twice_ = false;
};

TEST(LeafJournal, RecoversExactlyWhatTheSurvivingBatchesComeTo) {
  constexpr Load kLoads[] = {{1, 3, 48}, {2, 1, 96}, {4, 1, 192}, {4, 40, 192}, {8, 6, 384}, {12, 5000, 20}};
  bool erased_late = false;
  bool paged_twice = false;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    const Load load = kLoads[seed % std::size(kLoads)];
    SCOPED_TRACE(cat("seed ", seed, ", ", load.partitions, " partitions"));
    JournalTrial trial(seed, load);
    for (int life = 0; life < 6; ++life) ASSERT_NO_FATAL_FAILURE(trial.live_and_die());
    erased_late |= trial.erased_late();
    paged_twice |= trial.paged_twice();
  }
  EXPECT_TRUE(erased_late) << "no trial had more to erase than one batch erases";
  EXPECT_TRUE(paged_twice) << "no trial had a batch with two pages";
}

class LeafJournalRecords : public testing::Test {
 protected:
  // `count` batches, each with the same touches.
  void commit(int count, const std::map<LeafId, Leaf>& touched) {
    for (; count > 0; --count) {
      for (const auto& [id, leaf] : touched) {
        leaves_.set(id, leaf);
        journal_.touch(id);
        journal_.touch(id);
      }
      auto batch = engine_.new_batch();
      journal_.finish(*batch, {Boot{9}, 5, 7});
      ASSERT_TRUE(engine_.write(*batch, true).ok());
    }
  }
  std::string value_at(const std::string& key) {
    std::string value;
    EXPECT_EQ(*engine_.get(Family::kDigests, key, value), Lookup::kFound);
    return value;
  }
  void replace(const std::string& key, std::optional<std::string> value) {
    auto batch = engine_.new_batch();
    value ? batch->put(Family::kDigests, key, *value) : batch->erase(Family::kDigests, key);
    ASSERT_TRUE(engine_.write(*batch, true).ok());
  }
  Status recovered_status() { return recover_leaves(engine_, 4).status(); }
  StatusCode recovered_code() { return recovered_status().code(); }

  static std::string entry_key(uint8_t number) {
    return "j" + std::string(7, '\xFF') + static_cast<char>(~number);
  }

  MemoryDisk disk_;
  MemoryEngine engine_{disk_};
  LeafTable leaves_{4};
  LeafJournal journal_{leaves_, {}, {}};
  const std::string page_key_ = std::string("p\0\0\0\2", 5);
  const Leaf leaf_{.hash = {.low = 1, .high = 2}, .keys = 3, .bytes = 4};
};

// The bytes are the format of disks that exist.
TEST_F(LeafJournalRecords, AreWrittenAsDrawn) {
  commit(20, {{2 * 256 + 1, leaf_}, {2 * 256, Leaf()}});  // pages in batches 1 and 17

  std::string leaf, entry, page;
  ByteWriter leaf_writer(leaf);
  leaf_writer.varint(4);
  leaf_writer.u64(1);
  leaf_writer.u64(2);
  leaf_writer.varint(4);
  ByteWriter writer(entry);
  writer.varint(18);  // 2 to 17 were erased in 17 and 18
  writer.varint(18);
  writer.u64(9);
  writer.varint(5);
  writer.varint(7);
  writer.varint(2);
  writer.varint(512);
  writer.varint(0);
  writer.varint(1);
  writer.bytes(leaf);
  EXPECT_EQ(value_at(entry_key(20)), entry);
  page.push_back(17);
  page.push_back(0);
  page += leaf + std::string(254, '\0');
  EXPECT_EQ(value_at(page_key_), page);
}

TEST_F(LeafJournalRecords, ThatAreNotWhatThisCodeWritesAreCorruption) {
  commit(16, {{2 * 256 + 1, leaf_}});
  ASSERT_EQ(recovered_code(), StatusCode::kOk);
  for (const std::string& key : {entry_key(16), entry_key(9), entry_key(2), page_key_}) {
    const std::string whole = value_at(key);
    for (size_t size = 0; size < whole.size(); ++size) {
      replace(key, whole.substr(0, size));
      EXPECT_EQ(recovered_code(), StatusCode::kCorruption) << "cut to " << size;
    }
    replace(key, whole + "x");
    EXPECT_EQ(recovered_code(), StatusCode::kCorruption) << "longer";
    replace(key, whole);
  }
  for (const std::string& key : {entry_key(16), page_key_}) {
    const std::string whole = value_at(key);
    replace(key + "x", whole);
    EXPECT_EQ(recovered_code(), StatusCode::kCorruption) << "longer key";
    replace(key + "x", std::nullopt);
    std::string elsewhere = key;
    elsewhere.back() = 100;
    replace(elsewhere, whole);
    EXPECT_EQ(recovered_code(), StatusCode::kCorruption) << "elsewhere";
    replace(elsewhere, std::nullopt);
  }
  ASSERT_EQ(recovered_code(), StatusCode::kOk);
}

TEST_F(LeafJournalRecords, WhoseNumbersCannotBeAreCorruption) {
  commit(16, {{2 * 256 + 1, leaf_}});
  const std::string key = entry_key(16);
  const std::string whole = value_at(key);  // 2 is the oldest entry, and needed
  struct Numbers {
    char oldest;
    char needed_from;
  };
  for (const Numbers& numbers : {Numbers{0, 2}, Numbers{3, 2}, Numbers{2, 17}, Numbers{0, 0}}) {
    replace(key, std::string{numbers.oldest, numbers.needed_from} + whole.substr(2));
    EXPECT_EQ(recovered_status().message(),
              cat("leaf journal: the record at ", display_key(key), " is damaged"));
  }
  replace(key, whole);
  ASSERT_EQ(recovered_code(), StatusCode::kOk);
}

// A hole in the log that RocksDB passed over, for instance.
TEST_F(LeafJournalRecords, ThatAreMissingAreCorruptionThatNamesTheGap) {
  commit(16, {{2 * 256 + 1, leaf_}});
  ASSERT_EQ(recovered_code(), StatusCode::kOk);
  const auto without = [this](uint8_t first, uint8_t last) {
    std::map<std::string, std::string> removed;
    for (uint8_t number = first; number <= last; ++number)
      removed[entry_key(number)] = value_at(entry_key(number));
    for (const auto& [key, value] : removed) replace(key, std::nullopt);
    const Status status = recovered_status();
    for (const auto& [key, value] : removed) replace(key, value);
    return status.ok() ? "ok" : status.message();
  };
  EXPECT_EQ(without(7, 7), "leaf journal: the entries of batches 7 to 7 are missing");
  EXPECT_EQ(without(4, 9), "leaf journal: the entries of batches 4 to 9 are missing");
  EXPECT_EQ(without(2, 2), "leaf journal: the entries of batches 2 to 2 are missing");
  EXPECT_EQ(without(2, 15), "leaf journal: the entries of batches 2 to 15 are missing");
  EXPECT_EQ(without(16, 16), "ok") << "a lost tail";
  EXPECT_EQ(without(2, 16), "leaf journal: the entries of batches 1 to 1 are missing") << "its page is there";
  replace(page_key_, "\x13" + value_at(page_key_).substr(1));
  EXPECT_EQ(recovered_status().message(), "leaf journal: the entries of batches 17 to 19 are missing");
  replace(page_key_, "\x10" + value_at(page_key_).substr(1));
  ASSERT_EQ(recovered_code(), StatusCode::kOk);
}

TEST_F(LeafJournalRecords, ThatAreNeededNoMoreAreNotRead) {
  commit(17, {{2 * 256 + 1, leaf_}});  // its page ends the need for 2 to 16; it erases 8 of them
  ASSERT_EQ(entries_in(engine_), (std::vector<BatchNumber>{10, 11, 12, 13, 14, 15, 16, 17}));

  replace(entry_key(16), "damaged");
  replace(entry_key(12), std::nullopt);
  EXPECT_EQ(recovered_code(), StatusCode::kOk);

  commit(1, {});
  EXPECT_EQ(entries_in(engine_), (std::vector<BatchNumber>{18}));
}

TEST_F(LeafJournalRecords, AreReadWithTheErrorOfTheDisk) {
  commit(20, {{1, leaf_}});
  for (const uint64_t nth : {1U, 2U}) {
    disk_.fail(DiskCall::kGet, nth, DiskError::kInputOutput);
    EXPECT_EQ(recovered_code(), StatusCode::kUnavailable);
  }
  EXPECT_EQ(recovered_code(), StatusCode::kOk);
}

}  // namespace
}  // namespace ringkv
