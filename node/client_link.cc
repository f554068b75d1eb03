#include "node/client_link.h"

namespace ringkv {

void ClientLink::dial(const Address& address, Time give_up_at) {
  phase_ = Phase::kDialing;
  give_up_at_ = give_up_at;
  connection_ = transport_.connect(address);
  table_.emplace(connection_, this);
}

void ClientLink::greet(WireCodec& codec) { codec.encode(Hello{kProtocolVersion, place_}, output()); }

void ClientLink::serve(Boot boot) {
  phase_ = Phase::kServing;
  boot_ = boot;
}

void ClientLink::close() {
  transport_.close(connection_);
  end();
}

void ClientLink::end() {
  table_.erase(connection_);
  connection_ = 0;
  phase_ = Phase::kIdle;
  unanswered_ = 0;
  quiet_since_.reset();
  asked_at_.reset();
  silent_ = false;
}

void ClientLink::on_sent(Time now) {
  ++unanswered_;
  if (!quiet_since_) quiet_since_ = now;
}

void ClientLink::on_heard(Time now) {
  asked_at_.reset();
  silent_ = false;
  if (unanswered_ > 0) {
    quiet_since_ = now;
  } else {
    quiet_since_.reset();
  }
}

void ClientLink::on_answered() {
  on_abandoned();
  if (unanswered_ == 0) quiet_since_.reset();
}

// The quiet goes on: requests with short deadlines, one after another, must find a silent node too.
void ClientLink::on_abandoned() {
  if (unanswered_ > 0) --unanswered_;
}

ClientLink::Quiet ClientLink::listen(Time now) {
  if (!serving() || !quiet_since_) return Quiet::kNo;
  const Duration quiet = now - *quiet_since_;
  if (quiet >= kGoneAfter) return Quiet::kGone;
  if (asked_at_ && now - *asked_at_ >= kAnswersWithin) silent_ = true;
  if (silent_) return Quiet::kSilent;
  if (asked_at_ || quiet < kAskAfter) return Quiet::kNo;
  asked_at_ = now;
  return Quiet::kToBeAsked;
}

}  // namespace ringkv
