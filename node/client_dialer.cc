#include "node/client_dialer.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

constexpr Duration kPauseFirst = std::chrono::milliseconds(50);
constexpr Duration kPauseMax = std::chrono::seconds(1);

}  // namespace

ClientDialer::ClientDialer(ClientOptions options, Transport& transport, Random& random, uint64_t client)
    : options_(std::move(options)),
      transport_(transport),
      random_(random),
      client_(client),
      pause_(kPauseFirst) {}

void ClientDialer::want(Time now) {
  if (phase_ == Phase::kIdle || (phase_ == Phase::kPausing && now >= until_)) start_round(now);
}

void ClientDialer::start_round(Time now) {
  tried_ = 0;
  round_.clear();
  try_node(now);
}

void ClientDialer::try_node(Time now) {
  phase_ = Phase::kTrying;
  until_ = now + options_.connect_timeout;
  connection_ = transport_.connect(node());
}

void ClientDialer::on_connected(WireCodec& codec) {
  codec.encode(Hello{kProtocolVersion, client_}, transport_.output(connection_));
}

ClientDialer::Event ClientDialer::on_greeting(const Frame& frame, WireCodec& codec, Time now) {
  Result<Welcome> welcome = codec.decode_welcome(frame);
  const Status wrong = welcome.ok() ? check(*welcome) : welcome.status();
  if (!wrong.ok()) {
    transport_.close(connection_);
    return fail_node(wrong.to_string(), now);
  }
  welcome_ = std::move(*welcome);
  phase_ = Phase::kServing;
  pause_ = kPauseFirst;
  return Event::kServing;
}

// What was acknowledged by one cluster must not be looked for in another.
Status ClientDialer::check(const Welcome& welcome) const {
  if (welcome.protocol != kProtocolVersion) {
    return forbidden(cat("it speaks version ", welcome.protocol, " of the protocol, this client version ",
                         kProtocolVersion));
  }
  if (welcome_.cluster && welcome.cluster != welcome_.cluster) {
    return forbidden(cat("it belongs to cluster ", hex(welcome.cluster.value), ", this client to ",
                         hex(welcome_.cluster.value)));
  }
  return {};
}

ClientDialer::Event ClientDialer::on_closed(const Status& why, Time now) {
  return fail_node(why.message(), now);
}

ClientDialer::Event ClientDialer::on_tick(Time now) {
  if (phase_ != Phase::kTrying || now < until_) return Event::kNothing;
  transport_.close(connection_);
  return fail_node(cat("no answer within ", options_.connect_timeout.count(), " ms"), now);
}

ClientDialer::Event ClientDialer::fail_node(const std::string& why, Time now) {
  round_.push_back(cat(node(), ": ", why));
  connection_ = 0;
  node_ = (node_ + 1) % options_.nodes.size();
  if (++tried_ < options_.nodes.size()) {
    try_node(now);
    return Event::kNothing;
  }
  last_round_ = std::exchange(round_, {});
  phase_ = Phase::kPausing;
  // Half of it random, so that the clients of a node that restarts don't come at once.
  until_ = now + pause_ / 2 + Duration(random_.below(static_cast<uint64_t>(pause_.count()) / 2 + 1));
  pause_ = std::min(pause_ * 2, kPauseMax);
  return Event::kRoundFailed;
}

void ClientDialer::lose(bool silent, Time now) {
  connection_ = 0;
  if (silent) node_ = (node_ + 1) % options_.nodes.size();
  // A node that welcomes and then breaks off must not be called in a tight loop.
  phase_ = Phase::kPausing;
  until_ = now + Duration(random_.below(static_cast<uint64_t>(kPauseFirst.count())));
}

std::string ClientDialer::failures() const {
  const std::vector<std::string>& failures = round_.empty() ? last_round_ : round_;
  std::string text;
  for (const std::string& failure : failures) text += (text.empty() ? "" : "; ") + failure;
  return text;
}

}  // namespace ringkv
