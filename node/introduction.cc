#include "node/introduction.h"

#include <utility>

namespace ringkv {

void Introduction::begin(const std::vector<NodeId>& members, size_t seeds, Time until, Done done) {
  done_ = std::move(done);
  until_ = until;
  waiting_ = {members.begin(), members.end()};
  seeds_waiting_ = seeds;
  look();
}

void Introduction::on_welcomed(NodeId member) {
  met_own_ = true;
  waiting_.erase(member);
  look();
}

void Introduction::on_failed(NodeId member) {
  if (behind_.contains(member)) return;  // it is greeted again at once
  waiting_.erase(member);
  look();
}

void Introduction::on_behind(NodeId member) {
  if (under_way()) behind_.insert(member);
}

void Introduction::on_seed(bool is_own) {
  if (seeds_waiting_ > 0) --seeds_waiting_;
  met_own_ = met_own_ || is_own;
  look();
}

void Introduction::on_foreign_seed(Status why) {
  foreign_ = std::move(why);
  on_seed(false);
}

void Introduction::look() {
  if (waiting_.empty() && seeds_waiting_ == 0 && ring_held_ >= ring_heard_)
    end(met_own_ ? Status() : foreign_);
}

void Introduction::end(Status status) {
  if (!under_way()) return;
  std::exchange(done_, nullptr)(std::move(status));
}

void Introduction::tick(Time now) {
  if (!under_way()) return;
  if (now >= until_) return end({});
  look();
}

}  // namespace ringkv
