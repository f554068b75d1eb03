#include "replication/transfer_pace.h"

#include <algorithm>

namespace ringkv {
namespace {

// Less than that is what rounds do anyway.
constexpr uint64_t kIsTransfer = 1'000'000;
constexpr uint64_t kInVain = 3;  // seconds
constexpr uint64_t kAnswerCostMax = uint64_t{1} << 20;
constexpr int64_t kBurstPart = 10;  // of a second's pace
constexpr auto kMicrosPerSecond = int64_t{1'000'000};

}  // namespace

void TransferPace::on_second(const Second& second) {
  taken_in_ = taken_in_now_;
  taken_in_now_ = 0;
  limit_ = second.limit == 0 ? 0 : std::clamp(second.limit, kLeastLimit, kMost);
  learn(second);
  pace_ = limit_ != 0                   ? limit_
          : second.least_of_others == 0 ? bears_
                                        : std::min(bears_, second.least_of_others);
}

void TransferPace::learn_without_transfers(const Second& second) {
  bears_ = kFirst;
  grows_fast_ = true;
  least_p99_us_ = least_sum_us_ = least_seconds_ = 0;
  if (second.requests < kRequestsEnough) return;
  base_p99_us_ = base_p99_us_ == 0 ? second.p99_us : (9 * base_p99_us_ + second.p99_us) / 10;
}

uint64_t TransferPace::tolerated_us() const {
  if (least_p99_us_ != 0) return least_p99_us_ + least_p99_us_ / 2 + kToleratedUs;
  if (base_p99_us_ == 0) return kToleratedUnknownUs;
  return std::max(2 * base_p99_us_, base_p99_us_ + kToleratedUs);
}

bool TransferPace::helps_no_more(const Second& second) {
  if (least_p99_us_ != 0 || bears_ > kLeast) {
    least_sum_us_ = least_seconds_ = 0;
    return false;
  }
  least_sum_us_ += second.p99_us;
  if (++least_seconds_ < kInVain) return false;
  least_p99_us_ = least_sum_us_ / least_seconds_;
  return true;
}

void TransferPace::learn(const Second& second) {
  strained_ = false;
  if (second.most_taken_in < kIsTransfer) return learn_without_transfers(second);
  // More than is made use of proves nothing.
  const uint64_t proven = std::max(kFirst, 2 * second.most_taken_in);
  strained_ = second.requests >= kRequestsEnough && second.p99_us > tolerated_us();
  if (!strained_) {
    bears_ = std::min({kMost, proven, grows_fast_ ? 2 * bears_ : bears_ + bears_ / 10});
  } else if (helps_no_more(second)) {
    grows_fast_ = true;
  } else {
    bears_ = std::max(kLeast, std::min(bears_, second.most_taken_in) / 10 * 6);
    grows_fast_ = false;
  }
}

void TransferPace::refill(Time now) {
  const int64_t most = static_cast<int64_t>(pace_) / kBurstPart;
  const int64_t micros = std::min<int64_t>((now - refilled_at_).count(), kMicrosPerSecond);
  const int64_t earned = static_cast<int64_t>(pace_) * micros / kMicrosPerSecond;
  if (earned == 0) return;  // too early: what is less than a byte isn't lost
  refilled_at_ = now;
  balance_ = std::min(most, balance_ + earned);
}

bool TransferPace::may_ask(Time now) {
  refill(now);
  return balance_ >= 0;
}

Time TransferPace::may_ask_at(Time now) const {
  if (balance_ >= 0) return now;
  const int64_t millis = 1 - balance_ / std::max<int64_t>(1, static_cast<int64_t>(pace_) / 1000);
  return now + std::min<Duration>(std::chrono::milliseconds(millis), std::chrono::seconds(1));
}

uint64_t TransferPace::reserve() {
  balance_ -= static_cast<int64_t>(answer_cost_);
  return answer_cost_;
}

void TransferPace::settle(uint64_t reserved, uint64_t bytes, uint64_t records) {
  const uint64_t cost = bytes + records * kTransferCostOfRecord;
  balance_ += static_cast<int64_t>(reserved) - static_cast<int64_t>(cost);
  taken_in_now_ += cost;
  answer_cost_ = std::clamp<uint64_t>((7 * answer_cost_ + cost) / 8, 1024, kAnswerCostMax);
}

}  // namespace ringkv
