#include "node/joiner.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kAnswerWithin = std::chrono::seconds(10);
constexpr Duration kPause = std::chrono::milliseconds(200);
constexpr Duration kWaitingPause = std::chrono::seconds(1);
constexpr Duration kWaitingSaidEvery = std::chrono::minutes(1);

bool is_final(const Status& status) {
  return status.ok() || status.code() == StatusCode::kForbidden ||
         status.code() == StatusCode::kInvalidArgument;
}

}  // namespace

Joiner::Joiner(PeerLinks& links, Log& log, Settings settings, Done done)
    : links_(links), log_(log), settings_(std::move(settings)), done_(std::move(done)) {}

Joiner::~Joiner() { *alive_ = false; }

void Joiner::start(Time now) {
  until_ = now + settings_.patience;
  ask_next(now);
}

void Joiner::ask_next(Time now) {
  const Address& seed = settings_.seeds[next_seed_];
  next_seed_ = (next_seed_ + 1) % settings_.seeds.size();
  asking_ = true;
  const Duration left = std::max(until_ - now, Duration(1));
  links_.join(seed, settings_.request, std::min(left, kAnswerWithin),
              [this, alive = alive_, seed](JoinAnswer answer) {
                if (*alive) on_answer(seed, std::move(answer));
              });
}

void Joiner::on_answer(const Address& seed, JoinAnswer answer) {
  asking_ = false;
  if (!done_) return;
  if (is_final(answer.status)) {
    if (!answer.status.ok())
      answer.status = Status(answer.status.code(), cat(seed, " refuses: ", answer.status.message()));
    return std::exchange(done_, nullptr)(std::move(answer));
  }
  ask_at_ = Time();  // from the next tick on
  if (answer.not_yet) {
    heard_ = true;
    if (waits_for_ != answer.status.message()) waits_said_at_ = Time();
    waits_for_ = answer.status.message();
    return;
  }
  std::string& known = failures_[seed];
  if (known != answer.status.message()) {
    log_.info("node", cat(seed, " doesn't let it join yet: ", answer.status.message()));
    known = answer.status.message();
  }
}

void Joiner::on_heard(Time now) {
  heard_ = false;
  until_ = now + settings_.patience;
  ask_at_ = now + kWaitingPause;
  if (waits_said_at_ != Time() && now < waits_said_at_ + kWaitingSaidEvery) return;
  waits_said_at_ = now;
  log_.info("node", cat(settings_.request.name, " waits to join: ", waits_for_));
}

void Joiner::on_tick(Time now) {
  if (!done_) return;
  if (heard_) on_heard(now);
  if (now >= until_) {
    JoinAnswer answer;
    answer.status = nobody_answered();
    return std::exchange(done_, nullptr)(std::move(answer));
  }
  if (asking_) return;
  if (ask_at_ == Time()) {
    // The next seed at once, a pause before the first is asked again.
    ask_at_ = next_seed_ == 0 ? now + kPause : now;
  }
  if (now < ask_at_) return;
  ask_next(now);
}

Status Joiner::nobody_answered() const {
  std::string reasons;
  for (const Address& seed : settings_.seeds) {
    const auto failure = failures_.find(seed);
    reasons += cat(reasons.empty() ? "" : "; ", seed, ": ",
                   failure == failures_.end() ? "didn't answer" : failure->second);
  }
  return unavailable(cat(settings_.request.name, " could not join the cluster in time: ", reasons,
                         ". Are those the peer addresses of running members?"));
}

}  // namespace ringkv
