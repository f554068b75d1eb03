#include "tools/kvbench/closed_loop.h"

namespace ringkv::tools {
namespace {

constexpr uint64_t kValueOffsets = 4096;

std::string random_bytes(std::mt19937_64& random, uint64_t size) {
  std::string bytes;
  bytes.reserve(size + 8);
  while (bytes.size() < size) {
    const uint64_t word = random();
    bytes.append(reinterpret_cast<const char*>(&word), sizeof word);
  }
  return bytes;
}

}  // namespace

void Tally::add(const Tally& other) {
  latency_us.merge(other.latency_us);
  errors += other.errors;
  unknown += other.unknown;
  misses += other.misses;
  if (!other.last_error.empty()) last_error = other.last_error;
}

ClosedLoop::ClosedLoop(Store& store, const BenchSettings& settings, uint32_t requests, uint64_t seed)
    : store_(store), settings_(settings), requests_(requests), random_(seed) {
  put_options_.w = settings.w;
  put_options_.durability = settings.durability;
  get_options_.r = settings.r;
  random_bytes_ = random_bytes(random_, settings.value_bytes + kValueOffsets);
}

Status ClosedLoop::load(const KeyRange& keys) {
  {
    const std::lock_guard lock(mutex_);
    to_load_ = keys;
    running_ = true;
  }
  send_new(requests_);
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ == 0; });
  to_load_.reset();
  running_ = false;
  failed_ = 0;
  return load_failure_;
}

void ClosedLoop::start() {
  {
    const std::lock_guard lock(mutex_);
    running_ = true;
  }
  send_new(requests_);
}

void ClosedLoop::count(bool on) {
  const std::lock_guard lock(mutex_);
  counting_ = on;
}

void ClosedLoop::replace_failed() {
  uint32_t failed = 0;
  {
    const std::lock_guard lock(mutex_);
    std::swap(failed, failed_);
  }
  send_new(failed);
}

void ClosedLoop::stop() {
  std::unique_lock lock(mutex_);
  running_ = false;
  changed_.wait(lock, [this] { return under_way_ == 0; });
}

uint64_t ClosedLoop::completed() const {
  const std::lock_guard lock(mutex_);
  return tally_.latency_us.count();
}

Tally ClosedLoop::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

void ClosedLoop::send_new(uint32_t requests) {
  for (uint32_t i = 0; i < requests; ++i) {
    std::optional<Request> request;
    {
      const std::lock_guard lock(mutex_);
      request = next();
      if (!request) return;
      ++under_way_;
    }
    send(*request);
  }
}

std::optional<ClosedLoop::Request> ClosedLoop::next() {
  if (!running_) return std::nullopt;
  Request request{.value_offset = random_() % kValueOffsets, .start = Clock::now()};
  if (to_load_) {
    if (to_load_->first == to_load_->end || !load_failure_.ok()) return std::nullopt;
    request.key = to_load_->first++;
    return request;
  }
  request.put =
      settings_.workload == Workload::kPut || (settings_.workload == Workload::kMixed && random_() % 2 == 0);
  request.key = random_() % settings_.keys;
  return request;
}

void ClosedLoop::send(const Request& request) {
  const std::string key = "bench:" + std::to_string(request.key);
  if (request.put) {
    const auto value = std::string_view(random_bytes_).substr(request.value_offset, settings_.value_bytes);
    store_.put(key, value, put_options_, [this, request](const Result<PutReceipt>& receipt) {
      on_end(request, receipt.status(), false);
    });
    return;
  }
  store_.get(key, get_options_, [this, request](const Result<GetResult>& result) {
    on_end(request, result.status(), result.ok() && !result->found());
  });
}

void ClosedLoop::on_end(const Request& request, const Status& status, bool missed) {
  std::optional<Request> following;
  {
    const std::lock_guard lock(mutex_);
    record(request, status, missed);
    if (status.ok()) {
      following = next();
    } else {
      ++failed_;
    }
    if (!following) {
      --under_way_;
      changed_.notify_all();
    }
  }
  if (following) send(*following);
}

void ClosedLoop::record(const Request& request, const Status& status, bool missed) {
  if (to_load_) {
    if (!status.ok() && load_failure_.ok()) load_failure_ = status;
    return;
  }
  if (!counting_) return;
  if (status.ok()) {
    const auto took = Clock::now() - request.start;
    tally_.latency_us.add(
        static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(took).count()));
    if (missed) ++tally_.misses;
    return;
  }
  ++(status.code() == StatusCode::kUnknownOutcome ? tally_.unknown : tally_.errors);
  tally_.last_error = status.to_string();
}

}  // namespace ringkv::tools
