#include "storage/memory_engine.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv {
namespace {

class MemoryBatch final : public Batch {
 public:
  void put(Family family, std::string_view key, std::string_view value) override {
    changes_.push_back({family, std::string(key), std::string(value)});
    bytes_ += key.size() + value.size();
  }
  void erase(Family family, std::string_view key) override {
    changes_.push_back({family, std::string(key), std::nullopt});
    bytes_ += key.size();
  }
  void erase_range(Family family, std::string_view lower, std::string_view upper) override {
    changes_.push_back({family, std::string(lower), std::nullopt, std::string(upper)});
    bytes_ += lower.size() + upper.size();
  }
  size_t bytes() const override { return bytes_; }
  bool empty() const override { return changes_.empty(); }

  MemoryChanges take() {
    bytes_ = 0;
    return std::exchange(changes_, {});
  }

 private:
  MemoryChanges changes_;
  size_t bytes_ = 0;
};

Status failure(std::string_view what, DiskError error) {
  if (error == DiskError::kNoSpace) return out_of_space(cat(what, ": no space left on the simulated disk"));
  return unavailable(cat(what, ": input/output error of the simulated disk"));
}

}  // namespace

class MemoryCursor final : public Cursor {
 public:
  MemoryCursor(MemoryDisk& disk, Family family, std::string_view lower, std::string_view upper)
      : disk_(disk), family_(family), upper_(upper) {
    const std::lock_guard lock(disk_.mutex_);
    disk_.cursors_.push_back(this);
    settle(lower, disk_.table(family_).lower_bound(lower), before_.end());
  }

  // The read that finds the first entry failed.
  MemoryCursor(MemoryDisk& disk, Status status)
      : disk_(disk), family_(Family::kData), status_(std::move(status)) {}

  ~MemoryCursor() override {
    const std::lock_guard lock(disk_.mutex_);
    std::erase(disk_.cursors_, this);
  }

  bool valid() const override { return valid_; }
  std::string_view key() const override { return key_; }
  std::string_view value() const override { return value_; }
  Status status() const override { return status_; }

  void next() override {
    const std::lock_guard lock(disk_.mutex_);
    settle(key_, disk_.table(family_).upper_bound(key_), before_.upper_bound(key_));
  }
  void skip_to(std::string_view from) override {
    CHECK(valid_ && from > key_);  // what was changed behind it isn't remembered
    const std::lock_guard lock(disk_.mutex_);
    settle(from, disk_.table(family_).lower_bound(from), before_.lower_bound(from));
  }

  // A key is about to change for everybody else. Only the first change hides what this cursor is to see.
  void on_change(Family family, const std::string& key, const std::optional<std::string>& before) {
    if (!valid_ || family != family_ || key <= key_ || is_past_end(key)) return;
    before_.emplace(key, before);
  }

 private:
  using Before = std::map<std::string, std::optional<std::string>, std::less<>>;

  bool is_past_end(const std::string& key) const { return !upper_.empty() && key >= upper_; }

  // Takes the first entry of two: what the table holds from `now` on, under what it held before it was
  // changed. Damage on the way ends the walk.
  void settle(std::string_view from, MemoryDisk::Table::const_iterator now, Before::const_iterator before) {
    const auto end = disk_.table(family_).cend();
    while (now != end || before != before_.cend()) {
      const bool changed = before != before_.cend() && (now == end || before->first <= now->first);
      if (!changed) return take(from, now->first, now->second);
      if (before->second) return take(from, before->first, *before->second);
      if (now != end && now->first == before->first) ++now;
      ++before;
    }
    finish(from);
  }

  void take(std::string_view from, const std::string& key, const std::string& value) {
    if (is_past_end(key)) return finish(from);
    status_ = disk_.check_walk(family_, {.from = from, .to = key, .to_is_seen = true});
    valid_ = status_.ok();
    if (!valid_) return;
    key_ = key;
    value_ = value;
  }

  void finish(std::string_view from) {
    valid_ = false;
    status_ = disk_.check_walk(family_, {.from = from, .to = upper_});
  }

  MemoryDisk& disk_;
  const Family family_;
  const std::string upper_;
  Status status_;
  Before before_;  // keys ahead that were changed since this cursor was made; nothing: they were absent
  bool valid_ = false;
  std::string key_;
  std::string value_;
};

void MemoryDisk::fail(DiskCall call, uint64_t nth, DiskError error) {
  CHECK(nth > 0);
  const std::lock_guard lock(mutex_);
  faults_[static_cast<size_t>(call)] = PlannedFault{nth, error};
}

void MemoryDisk::set_blocking_share(double share, uint64_t seed) {
  const std::lock_guard lock(mutex_);
  blocking_share_ = share;
  blocking_random_ = SeededRandom(seed);
}

void MemoryDisk::set_space(DiskSpace space) {
  const std::lock_guard lock(mutex_);
  space_ = space;
}

void MemoryDisk::crash(Random& random, bool torn) {
  CHECK(!engine_open_);
  replay_unseen();
  const uint64_t survivors = random.below(undo_.size() + 1);
  if (torn && survivors < undo_.size()) {
    log_damage_ = cat("the simulated log is damaged behind ", survivors, " batches that weren't synced; ",
                      "what was written after it was dropped");
  }
  while (undo_.size() > survivors) {
    MemoryChanges& undo = undo_.back();
    for (auto change = undo.rbegin(); change != undo.rend(); ++change) exchange(std::move(*change));
    undo_.pop_back();
  }
  undo_.clear();
}

void MemoryDisk::wipe() {
  CHECK(!engine_open_);
  for (Table& table : tables_) table.clear();
  damaged_.clear();
  undo_.clear();
  unseen_.clear();
  log_damage_.clear();
}

MemoryDisk::DamagedFile MemoryDisk::new_damaged_file(Family family, std::string first, std::string last) {
  return {.range = {.family = family,
                    .first = std::move(first),
                    .last = std::move(last),
                    .file = cat("damaged/", ++files_damaged_),
                    .why = "damaged by the simulation"},
          .unreadable_first = {},
          .unreadable_last = {},
          .put_since = {}};
}

void MemoryDisk::damage(Family family, std::string first, std::string last) {
  const std::lock_guard lock(mutex_);
  DamagedFile file = new_damaged_file(family, std::move(first), std::move(last));
  file.unreadable_first = file.range.first;
  file.unreadable_last = file.range.last;
  damaged_.push_back(std::move(file));
}

bool MemoryDisk::damage_block(Family family, std::string first, std::string last, std::string_view at) {
  const std::lock_guard lock(mutex_);
  const Table& entries = table(family);
  const auto entry = entries.lower_bound(std::max<std::string_view>(first, at));
  if (entry == entries.end() || entry->first > last) return false;
  DamagedFile file = new_damaged_file(family, std::move(first), std::move(last));
  const auto next = std::next(entry);
  file.unreadable_first = entry->first;
  file.unreadable_last = next == entries.end() || next->first > file.range.last ? entry->first : next->first;
  damaged_.push_back(std::move(file));
  return true;
}

Status MemoryDisk::check_key(Family family, std::string_view key) const {
  for (const DamagedFile& file : damaged_) {
    const OpenedEngine::LostRange& range = file.range;
    if (range.family != family || key < file.unreadable_first || file.unreadable_last < key) continue;
    if (!file.put_since.contains(key)) return corruption(cat("the simulated ", range.file, " can't be read"));
  }
  return {};
}

Status MemoryDisk::check_walk(Family family, const Way& way) const {
  for (const DamagedFile& file : damaged_) {
    const OpenedEngine::LostRange& range = file.range;
    const std::string& first = file.unreadable_first;
    const bool ends_before = way.to_is_seen ? way.to < first : !way.to.empty() && way.to <= first;
    if (range.family != family || file.unreadable_last < way.from || ends_before) continue;
    return corruption(cat("the simulated ", range.file, " can't be read"));
  }
  return {};
}

Result<LostRanges> MemoryDisk::damaged_ranges() const {
  LostRanges ranges;
  for (const DamagedFile& file : damaged_) {
    if (file.range.family == Family::kMeta) {
      return corruption(cat("the simulated ", file.range.file, " held what the node knows of itself"));
    }
    ranges.push_back(file.range);
  }
  return ranges;
}

void MemoryDisk::drop_damaged() {
  for (const DamagedFile& file : damaged_) {
    Table& entries = table(file.range.family);
    for (auto entry = entries.lower_bound(file.range.first);
         entry != entries.end() && entry->first <= file.range.last;) {
      entry = file.put_since.contains(entry->first) ? std::next(entry) : entries.erase(entry);
    }
  }
  damaged_.clear();
}

std::unique_ptr<MemoryDisk> MemoryDisk::copy() const {
  const std::lock_guard lock(mutex_);
  auto other = std::make_unique<MemoryDisk>();
  other->tables_ = tables_;
  for (const MemoryChanges& changes : unseen_) other->apply(changes);
  other->undo_.clear();
  other->space_ = space_;
  other->damaged_ = damaged_;
  other->files_damaged_ = files_damaged_;
  return other;
}

std::string MemoryDisk::take_log_damage() {
  const std::lock_guard lock(mutex_);
  return std::exchange(log_damage_, {});
}

size_t MemoryDisk::unsynced_batches() const {
  const std::lock_guard lock(mutex_);
  return undo_.size() + unseen_.size();
}

std::optional<DiskError> MemoryDisk::fault_of(DiskCall call) {
  std::optional<PlannedFault>& fault = faults_[static_cast<size_t>(call)];
  if (!fault || --fault->calls_left > 0) return std::nullopt;
  const DiskError error = fault->error;
  fault.reset();
  return error;
}

MemoryChange MemoryDisk::exchange(MemoryChange change) {
  for (DamagedFile& file : damaged_) {
    if (file.range.family == change.family) file.put_since.insert(change.key);
  }
  Table& entries = table(change.family);
  const auto entry = entries.find(change.key);
  std::optional<std::string> before;
  if (entry != entries.end()) before = std::move(entry->second);
  for (MemoryCursor* cursor : cursors_) cursor->on_change(change.family, change.key, before);

  MemoryChange undo{change.family, change.key, std::move(before)};
  if (!change.value) {
    if (entry != entries.end()) entries.erase(entry);
  } else if (entry != entries.end()) {
    entry->second = std::move(*change.value);
  } else {
    entries.emplace(std::move(change.key), std::move(*change.value));
  }
  return undo;
}

void MemoryDisk::apply(MemoryChanges changes) {
  MemoryChanges undo;
  undo.reserve(changes.size());
  for (MemoryChange& change : changes) {
    if (change.upper) {
      erase_range(change, undo);
    } else {
      undo.push_back(exchange(std::move(change)));
    }
  }
  undo_.push_back(std::move(undo));
}

void MemoryDisk::erase_range(const MemoryChange& range, MemoryChanges& undo) {
  std::vector<std::string> keys;
  const Table& entries = table(range.family);
  for (auto entry = entries.lower_bound(range.key); entry != entries.end() && entry->first < *range.upper;
       ++entry) {
    keys.push_back(entry->first);
  }
  for (std::string& key : keys) undo.push_back(exchange({range.family, std::move(key), std::nullopt}));
}

void MemoryDisk::replay_unseen() {
  for (MemoryChanges& changes : unseen_) apply(std::move(changes));
  unseen_.clear();
}

Result<OpenedEngine> open_memory(MemoryDisk& disk, OpenMode mode) {
  auto engine = std::make_unique<MemoryEngine>(disk);
  Result<LostRanges> found = LostRanges();
  if (mode == OpenMode::kSetDamagedAside) {
    const std::lock_guard lock(disk.mutex_);
    found = disk.damaged_ranges();
  }
  if (!found.ok()) return found.status();
  Result<LostRanges> lost = remember_lost_ranges(*engine, *found);
  if (!lost.ok()) return lost.status();
  if (mode == OpenMode::kSetDamagedAside) {
    const std::lock_guard lock(disk.mutex_);
    disk.drop_damaged();
  }
  return OpenedEngine{std::move(engine), disk.take_log_damage(), *std::move(lost)};
}

MemoryEngine::MemoryEngine(MemoryDisk& disk) : disk_(disk) {
  const std::lock_guard lock(disk_.mutex_);
  CHECK(!disk_.engine_open_);
  disk_.engine_open_ = true;
  disk_.replay_unseen();
}

MemoryEngine::~MemoryEngine() {
  const std::lock_guard lock(disk_.mutex_);
  CHECK(disk_.cursors_.empty());
  disk_.engine_open_ = false;
}

std::unique_ptr<Batch> MemoryEngine::new_batch() { return std::make_unique<MemoryBatch>(); }

Status MemoryEngine::write(Batch& batch, bool sync) {
  const std::lock_guard lock(disk_.mutex_);
  if (failed_) return fenced();
  MemoryChanges changes = static_cast<MemoryBatch&>(batch).take();
  if (const auto error = disk_.fault_of(DiskCall::kWrite)) return fence(failure("appending", *error));
  if (sync) {
    if (const auto error = disk_.fault_of(DiskCall::kSync)) {
      disk_.unseen_.push_back(std::move(changes));
      return fence(failure("syncing", *error));
    }
  }
  disk_.apply(std::move(changes));
  if (sync) disk_.undo_.clear();
  return {};
}

Result<Lookup> MemoryEngine::get(Family family, std::string_view key, std::string& value) {
  const std::lock_guard lock(disk_.mutex_);
  if (const auto error = disk_.fault_of(DiskCall::kGet)) return failure("reading", *error);
  return look_up(family, key, value);
}

Result<Lookup> MemoryEngine::get_cached(Family family, std::string_view key, std::string& value) {
  const std::lock_guard lock(disk_.mutex_);
  const double share = disk_.blocking_share_;
  if (share > 0 && disk_.blocking_random_.unit() < share) return Lookup::kWouldBlock;
  if (!disk_.check_key(family, key).ok()) return Lookup::kWouldBlock;  // nobody could have read it before
  return look_up(family, key, value);
}

std::unique_ptr<Cursor> MemoryEngine::seek(Family family, std::string_view lower, std::string_view upper) {
  std::optional<DiskError> error;
  {
    const std::lock_guard lock(disk_.mutex_);
    error = disk_.fault_of(DiskCall::kGet);
  }
  if (error) return std::make_unique<MemoryCursor>(disk_, failure("reading", *error));
  return std::make_unique<MemoryCursor>(disk_, family, lower, upper);
}

Status MemoryEngine::flush() {
  const std::lock_guard lock(disk_.mutex_);
  if (failed_) return fenced();
  if (const auto error = disk_.fault_of(DiskCall::kSync)) return fence(failure("flushing", *error));
  disk_.undo_.clear();
  return {};
}

uint64_t MemoryEngine::disk_free_bytes() const {
  const std::lock_guard lock(disk_.mutex_);
  return disk_.space_.free_bytes;
}

uint64_t MemoryEngine::disk_size_bytes() const {
  const std::lock_guard lock(disk_.mutex_);
  return disk_.space_.size_bytes;
}

std::map<std::string, uint64_t> MemoryEngine::statistics() const {
  return {{"unsynced_batches", disk_.unsynced_batches()}};
}

Result<Lookup> MemoryEngine::look_up(Family family, std::string_view key, std::string& value) {
  if (Status status = disk_.check_key(family, key); !status.ok()) return status;
  const MemoryDisk::Table& entries = disk_.table(family);
  const auto entry = entries.find(key);
  if (entry == entries.end()) return Lookup::kAbsent;
  value = entry->second;
  return Lookup::kFound;
}

Status MemoryEngine::fence(Status why) {
  failed_ = std::move(why);
  return *failed_;
}

Status MemoryEngine::fenced() const {
  return unavailable(
      cat("nothing is written until the store has been opened again, because of an earlier failure: ",
          failed_->message()));
}

}  // namespace ringkv
