#include "gossip/epoch_register.h"

#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv {

Status EpochRegister::propose(std::string description, std::string record_key, Outbox<RingChosen>& outbox) {
  if (proposing_) return unavailable(cat("epoch ", epoch_ + 1, " is being decided: try again"));
  proposing_ = true;
  outbox.record({std::move(record_key), description});
  outbox.send(self_, RingChosen{epoch_ + 1, std::move(description)});
  return {};
}

void EpochRegister::on(const RingChosen& chosen) {
  CHECK(proposing_ && chosen.epoch == epoch_ + 1);
  epoch_ = chosen.epoch;
  proposing_ = false;
}

}  // namespace ringkv
