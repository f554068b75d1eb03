// Torn and damaged logs, judged by themselves and through an open.
#include "storage/rocksdb_log.h"

#include <gtest/gtest.h>

#include "tests/storage/rocksdb_files.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kKeys = 1000;
constexpr uint64_t kBlockBytes = 32768;

class RocksdbLog : public testing::Test {
 protected:
  RocksdbLog() {
    auto opened = open_small_rocksdb(directory_.path() / "running");
    put_numbered(*opened->engine, 0, kKeys);
    copy_directory(directory_.path() / "running", killed_);
    log_ = files_in(killed_, ".log").back();
    whole_log_ = read_file(log_);
  }

  // Opens with this log, twice; says what the first found and how many keys are left.
  struct Opened {
    std::string damage;
    uint64_t keys = 0;
  };
  Opened open_with(std::string_view log) {
    const fs::path path = directory_.path() / "damaged";
    copy_directory(killed_, path);
    write_file(path / log_.filename(), log);
    Opened first;
    {
      auto opened = open_small_rocksdb(path);
      EXPECT_TRUE(opened.ok()) << opened.status().to_string();
      if (!opened.ok()) return first;
      first = {opened->log_damage, numbered_prefix(*opened->engine)};
    }
    // What was kept was made durable, and the damage is behind us.
    auto again = open_small_rocksdb(path);
    EXPECT_TRUE(again.ok()) << again.status().to_string();
    if (!again.ok()) return first;
    EXPECT_EQ(again->log_damage, "");
    EXPECT_EQ(numbered_prefix(*again->engine), first.keys);
    return first;
  }

  std::string flipped(uint64_t offset, uint8_t bits) const {
    std::string log = whole_log_;
    log[offset] = static_cast<char>(static_cast<uint8_t>(log[offset]) ^ bits);
    return log;
  }

  // Where the records of the last block start.
  std::vector<uint64_t> last_records() const {
    std::vector<uint64_t> starts;
    for (uint64_t at = whole_log_.size() / kBlockBytes * kBlockBytes; at < whole_log_.size();) {
      starts.push_back(at);
      const auto byte = [&](uint64_t i) { return static_cast<uint8_t>(whole_log_[at + i]); };
      at += 7 + byte(4) + 256U * byte(5);
    }
    return starts;
  }

  const TempDirectory directory_;
  const fs::path killed_ = directory_.path() / "killed";
  fs::path log_;
  std::string whole_log_;
};

TEST_F(RocksdbLog, OpensWholeAfterKill) {
  const Opened opened = open_with(whole_log_);
  EXPECT_EQ(opened.damage, "");
  EXPECT_EQ(opened.keys, kKeys);
}

// Bug log B85: a damaged log neither hangs the start nor loses anything in silence.
TEST_F(RocksdbLog, ReportsAFlippedBitAnywhereAndKeepsWhatWasWrittenBefore) {
  SeededRandom random(85);
  for (int i = 0; i < 50; ++i) {
    const uint64_t offset = random.below(whole_log_.size());
    SCOPED_TRACE(cat("offset ", offset));
    const Opened opened = open_with(flipped(offset, static_cast<uint8_t>(1U << random.below(8))));
    EXPECT_NE(opened.damage.find(log_.filename().string()), std::string::npos) << opened.damage;
    EXPECT_LT(opened.keys, kKeys);
    EXPECT_GE(opened.keys + 1, kKeys * offset / whole_log_.size() * 9 / 10);
  }
}

// A length that reaches past the end looks like a process that died while writing. RocksDB's modes that
// forgive torn tails would drop the rest of the block in silence.
TEST_F(RocksdbLog, ReportsADamagedLengthInTheLastBlock) {
  const std::vector<uint64_t> starts = last_records();
  ASSERT_GT(starts.size(), 3U);
  for (const uint64_t start : {starts[0], starts[1], starts[starts.size() - 2], starts.back()}) {
    for (const uint64_t byte : {4U, 5U, 6U}) {
      for (const uint8_t bits : {0x01, 0x40}) {
        SCOPED_TRACE(cat("record at ", start, ", byte ", byte, ", bits ", int{bits}));
        const Opened opened = open_with(flipped(start + byte, bits));
        EXPECT_NE(opened.damage, "");
        EXPECT_LT(opened.keys, kKeys);
      }
    }
  }
}

TEST_F(RocksdbLog, TakesATornTailAsWhole) {
  SeededRandom random(3);
  for (int i = 0; i < 16; ++i) {
    const uint64_t size = whole_log_.size() - 1 - random.below(i < 6 ? 20 : whole_log_.size() - 1);
    SCOPED_TRACE(cat("cut to ", size, " of ", whole_log_.size()));
    const Opened opened = open_with(whole_log_.substr(0, size));
    EXPECT_EQ(opened.damage, "");
    EXPECT_LT(opened.keys, kKeys);
  }
}

TEST_F(RocksdbLog, TakesRoomThatWasNeverWrittenAsTheEnd) {
  const Opened opened = open_with(whole_log_ + std::string(100'000, '\0'));
  EXPECT_EQ(opened.damage, "");
  EXPECT_EQ(opened.keys, kKeys);
}

TEST_F(RocksdbLog, JudgesAHoleOfZerosAsDamage) {
  std::string log = whole_log_.substr(0, last_records()[1]);
  log.resize((log.size() / kBlockBytes + 1) * kBlockBytes, '\0');
  log += whole_log_.substr(0, 1000);
  write_file(log_, log);
  EXPECT_EQ(judge_logs(killed_).verdict, LogVerdict::kDamaged);
}

// Only the newest log can be torn by kill -9: the one before was complete when the next was begun.
TEST_F(RocksdbLog, JudgesACutInAnOlderLogAsDamage) {
  EXPECT_EQ(judge_logs(killed_).verdict, LogVerdict::kWhole);
  write_file(log_, whole_log_.substr(0, whole_log_.size() - 10));
  EXPECT_EQ(judge_logs(killed_).verdict, LogVerdict::kTorn);
  write_file(killed_ / "999999.log", "");
  EXPECT_EQ(judge_logs(killed_).verdict, LogVerdict::kTorn) << "an empty log proves nothing";
  write_file(killed_ / "999999.log", whole_log_);
  const JudgedLogs judged = judge_logs(killed_);
  EXPECT_EQ(judged.verdict, LogVerdict::kDamaged);
  EXPECT_NE(judged.damage.find(log_.string()), std::string::npos) << judged.damage;
}

}  // namespace
}  // namespace ringkv
