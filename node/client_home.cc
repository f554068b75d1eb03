#include "node/client_home.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kPauseFirst = std::chrono::milliseconds(50);
constexpr Duration kPauseMax = std::chrono::seconds(1);

}  // namespace

ClientHome::ClientHome(std::vector<ClientNode*> given, Random& random)
    : given_(std::move(given)), random_(random), pause_(kPauseFirst) {}

void ClientHome::want(Time now) {
  if (phase_ == Phase::kIdle || (phase_ == Phase::kPausing && now >= until_)) start_round(now);
}

void ClientHome::start_round(Time now) {
  tried_ = 0;
  round_.clear();
  try_node(now);
}

void ClientHome::try_node(Time now) {
  phase_ = Phase::kTrying;
  if (node().serving()) return serve(at_);
  node().dial(now);
}

void ClientHome::serve(size_t at) {
  at_ = at;
  phase_ = Phase::kServing;
  pause_ = kPauseFirst;
}

void ClientHome::on_served(const ClientNode& node) {
  if (serving()) return;
  const auto given = std::find(given_.begin(), given_.end(), &node);
  if (given != given_.end()) serve(static_cast<size_t>(given - given_.begin()));
}

void ClientHome::on_failed(const ClientNode& node, const std::string& why, Time now) {
  if (phase_ != Phase::kTrying || &node != given_[at_]) return;
  round_.push_back(cat(node.address(), ": ", why));
  at_ = (at_ + 1) % given_.size();
  if (++tried_ < given_.size()) return try_node(now);
  last_round_ = std::exchange(round_, {});
  phase_ = Phase::kPausing;
  // Half of it random, so that the clients of a node that restarts don't come at once.
  until_ = now + pause_ / 2 + Duration(random_.below(static_cast<uint64_t>(pause_.count()) / 2 + 1));
  pause_ = std::min(pause_ * 2, kPauseMax);
}

void ClientHome::on_lost(const ClientNode& node, bool silent, Time now) {
  if (!serving() || &node != given_[at_]) return;
  if (silent) at_ = (at_ + 1) % given_.size();
  phase_ = Phase::kPausing;
  until_ = now + Duration(random_.below(static_cast<uint64_t>(kPauseFirst.count())));
}

std::string ClientHome::failures() const {
  const std::vector<std::string>& failures = round_.empty() ? last_round_ : round_;
  std::string text;
  for (const std::string& failure : failures) text += (text.empty() ? "" : "; ") + failure;
  return text;
}

}  // namespace ringkv
