#include "tools/kvctl/loader.h"

#include <chrono>
#include <thread>
#include <utility>

namespace ringkv::tools {
namespace {

// The entry itself is at fault: no other try and no other node will take it.
bool is_refusal(const Status& status) {
  return status.code() == StatusCode::kInvalidArgument || status.code() == StatusCode::kTooLarge;
}

// Putting the same bytes again does no harm, whatever became of the first try.
bool may_pass(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kOverloaded ||
         status.code() == StatusCode::kUnknownOutcome || status.code() == StatusCode::kStaleEpoch;
}

uint64_t bytes_of(const LoadEntry& entry) {
  uint64_t bytes = entry.key.size();
  for (const std::string& value : entry.values) bytes += value.size();
  return bytes;
}

}  // namespace

Loader::Loader(Store& store, PutOptions options, LoaderLimits limits, Refused refused)
    : store_(store), options_(std::move(options)), limits_(limits), refused_(std::move(refused)) {}

// Callbacks hold `this`: none may be left.
Loader::~Loader() { (void)finish(); }

template <class Condition>
void Loader::wait_until(std::unique_lock<std::mutex>& lock, Condition condition) {
  run_errands(lock);
  while (!condition()) {
    changed_.wait(lock, [&] { return condition() || !retries_.empty() || !refusals_.empty(); });
    run_errands(lock);
  }
}

void Loader::run_errands(std::unique_lock<std::mutex>& lock) {
  while (!refusals_.empty()) {
    const auto [line, why] = std::move(refusals_.front());
    refusals_.pop_front();
    lock.unlock();
    refused_(line, why);
    lock.lock();
  }
  if (retries_.empty()) return;
  lock.unlock();
  std::this_thread::sleep_for(limits_.retry_after);
  lock.lock();
  std::deque<JobPointer> due;
  due.swap(retries_);
  lock.unlock();
  for (const JobPointer& job : due) submit(job);
  lock.lock();
}

Status Loader::add(const Position& position, LoadEntry entry) {
  auto job = std::make_shared<Job>(Job{.position = position, .entry = std::move(entry)});
  job->bytes = bytes_of(job->entry);
  std::unique_lock lock(mutex_);
  lines_.emplace(position.line, std::nullopt);
  wait_until(lock, [&] {
    return !failure_.ok() || (keys_.size() < limits_.entries_max && !keys_.contains(job->entry.key) &&
                              (bytes_ == 0 || bytes_ + job->bytes <= limits_.bytes_max));
  });
  if (!failure_.ok()) return failure_;
  keys_.insert(job->entry.key);
  bytes_ += job->bytes;
  lock.unlock();
  submit(job);
  return {};
}

void Loader::skip(const Position& position) {
  const std::lock_guard lock(mutex_);
  settle(position);
}

// The first value of a key is a blind put, which replaces what is there; further ones are put beside it.
void Loader::submit(const JobPointer& job) {
  PutOptions options = options_;
  if (job->next_value > 0) options.context = Context();
  store_.put(job->entry.key, job->entry.values[job->next_value], options,
             [this, job](const Result<PutReceipt>& receipt) { on_answer(job, receipt.status()); });
}

void Loader::on_answer(const JobPointer& job, const Status& status) {
  if (status.ok() && ++job->next_value < job->entry.values.size()) {
    submit(job);
    return;
  }
  const std::lock_guard lock(mutex_);
  if (!status.ok() && may_pass(status) && ++job->tries < limits_.tries_max && failure_.ok()) {
    retries_.push_back(job);
  } else {
    keys_.erase(job->entry.key);
    bytes_ -= job->bytes;
    if (status.ok()) ++stored_;
    if (is_refusal(status)) refusals_.emplace_back(job->position.line, status);
    if (status.ok() || is_refusal(status)) {
      settle(job->position);
    } else if (failure_.ok()) {
      failure_ =
          Status(status.code(), "line " + std::to_string(job->position.line) + ": " + status.message());
    }
  }
  changed_.notify_all();
}

void Loader::settle(const Position& position) {
  lines_[position.line] = position;
  for (auto line = lines_.begin(); line != lines_.end() && line->second; line = lines_.erase(line))
    acknowledged_ = *line->second;
}

Status Loader::finish() {
  std::unique_lock lock(mutex_);
  wait_until(lock, [&] { return keys_.empty(); });
  run_errands(lock);
  return failure_;
}

Position Loader::acknowledged() const {
  const std::lock_guard lock(mutex_);
  return acknowledged_;
}

uint64_t Loader::stored() const {
  const std::lock_guard lock(mutex_);
  return stored_;
}

}  // namespace ringkv::tools
