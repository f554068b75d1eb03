#include "tools/kvbench/load_generator.h"

#include <utility>

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

uint64_t microseconds(LoadGenerator::Clock::duration time) {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

}  // namespace

LoadGenerator::LoadGenerator(Store& store, KeySpace& keys, const BenchSettings& settings, uint32_t requests,
                             uint64_t seed)
    : store_(store),
      keys_(keys),
      settings_(settings),
      mix_(mix_of(settings.workload)),
      requests_(requests),
      random_(seed),
      choice_(settings.distribution) {
  put_options_.w = settings.w;
  put_options_.durability = settings.durability;
  get_options_.r = settings.r;
  random_bytes_ = random_bytes(random_, settings.value_bytes + kValueOffsets);
}

Status LoadGenerator::load(const KeyRange& keys) {
  {
    const std::lock_guard lock(mutex_);
    to_load_ = keys;
    running_ = true;
  }
  send_new();
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return under_way_ == 0; });
  to_load_.reset();
  running_ = false;
  return load_failure_;
}

void LoadGenerator::start(const Window& window, const std::optional<Pace>& pace, bool by_second) {
  {
    const std::lock_guard lock(mutex_);
    window_ = window;
    pace_ = pace;
    started_ = 0;
    running_ = true;
    if (by_second) second_.emplace();
  }
  send_new();
}

void LoadGenerator::top_up() { send_new(); }

std::optional<LoadGenerator::Clock::time_point> LoadGenerator::next_due() const {
  const std::lock_guard lock(mutex_);
  if (!pace_ || under_way_ == requests_) return std::nullopt;
  return pace_->due(started_);
}

void LoadGenerator::stop() {
  std::unique_lock lock(mutex_);
  if (std::exchange(running_, false)) record_unsent();
  changed_.wait(lock, [this] { return under_way_ == 0; });
}

Tally LoadGenerator::take_second() {
  const std::lock_guard lock(mutex_);
  return second_ ? std::exchange(*second_, Tally()) : Tally();
}

Tally LoadGenerator::tally() const {
  const std::lock_guard lock(mutex_);
  return tally_;
}

void LoadGenerator::send_new() {
  for (;;) {
    std::optional<Request> request;
    {
      const std::lock_guard lock(mutex_);
      if (under_way_ == requests_) return;
      request = next();
      if (!request) return;
      ++under_way_;
    }
    send(*request);
  }
}

std::optional<LoadGenerator::Request> LoadGenerator::next() {
  if (!running_) return std::nullopt;
  if (to_load_) return next_to_load();
  Request request{.value_offset = random_() % kValueOffsets, .start = Clock::now()};
  if (pace_) {
    const Clock::time_point due = pace_->due(started_);
    if (due > request.start) return std::nullopt;
    request.start = due;
  }
  ++started_;
  request.kind = mix_.kind_of(random_());
  request.key =
      request.kind == OperationKind::kInsert ? keys_.insert() : choice_.choose(keys_.readable(), random_);
  return request;
}

std::optional<LoadGenerator::Request> LoadGenerator::next_to_load() {
  if (to_load_->first == to_load_->end || !load_failure_.ok()) return std::nullopt;
  return Request{.key = to_load_->first++, .value_offset = random_() % kValueOffsets, .start = {}};
}

void LoadGenerator::send(const Request& request) {
  const bool gets = request.kind == OperationKind::kRead || request.kind == OperationKind::kReadModifyWrite;
  if (gets) {
    send_get(request);
  } else {
    send_put(request, put_options_, false);
  }
}

void LoadGenerator::send_get(const Request& request) {
  store_.get("bench:" + std::to_string(request.key), get_options_,
             [this, request](const Result<GetResult>& result) {
               const bool missed = result.ok() && !result->found();
               if (request.kind == OperationKind::kRead || !result.ok()) {
                 on_end(request, result.status(), missed);
                 return;
               }
               PutOptions options = put_options_;
               options.context = result->context;
               send_put(request, options, missed);
             });
}

void LoadGenerator::send_put(const Request& request, const PutOptions& options, bool missed) {
  const auto value = std::string_view(random_bytes_).substr(request.value_offset, settings_.value_bytes);
  store_.put("bench:" + std::to_string(request.key), value, options,
             [this, request, missed](const Result<PutReceipt>& receipt) {
               on_end(request, receipt.status(), missed);
             });
}

void LoadGenerator::on_end(const Request& request, const Status& status, bool missed) {
  if (request.kind == OperationKind::kInsert) keys_.inserted(request.key);
  std::optional<Request> following;
  {
    const std::lock_guard lock(mutex_);
    record(request, status, missed);
    if (status.ok()) following = next();
    if (!following) {
      --under_way_;
      changed_.notify_all();
    }
  }
  if (following) send(*following);
}

void LoadGenerator::record(const Request& request, const Status& status, bool missed) {
  if (to_load_) {
    if (!status.ok() && load_failure_.ok()) load_failure_ = status;
    return;
  }
  const Clock::time_point end = Clock::now();
  const uint64_t took_us = microseconds(end - request.start);
  if (end >= window_.from) tally_.count(status, took_us, missed, end < window_.until);
  if (second_) second_->count(status, took_us, missed, true);
}

// At a rate that the store can't keep up with requests wait here. They have taken as long as this already.
void LoadGenerator::record_unsent() {
  if (!pace_) return;
  for (Clock::time_point due = pace_->due(started_); due < window_.until; due = pace_->due(++started_))
    tally_.count_unsent(microseconds(window_.until - due));
}

}  // namespace ringkv::tools
