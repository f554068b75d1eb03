#include "node/peer_errands.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/text.h"

namespace ringkv {
namespace {

void answer_failed(PeerErrands::Question& question, const Status& why) {
  if (auto* identify = std::get_if<PeerErrands::Identify>(&question)) {
    identify->done(why);
  } else {
    std::get<PeerErrands::Join>(question).done(JoinAnswer{why, {}, {}});
  }
}

}  // namespace

PeerErrands::PeerErrands(Transport& transport, const PeerFaults& faults, PeerCodec& codec)
    : transport_(transport), faults_(faults), codec_(codec) {}

void PeerErrands::ask(const Address& address, Question question, Time by) {
  const auto* identify = std::get_if<Identify>(&question);
  const bool dropped = identify != nullptr && faults_.drops(identify->hello.to);
  errands_.push_back({dropped ? 0 : transport_.connect(address), address, by, std::move(question), {}});
}

PeerErrands::Errands::iterator PeerErrands::find(ConnectionId connection) {
  return std::find_if(errands_.begin(), errands_.end(),
                      [&](const Errand& errand) { return errand.connection == connection; });
}

bool PeerErrands::owns(ConnectionId connection) const {
  return std::any_of(errands_.begin(), errands_.end(),
                     [&](const Errand& errand) { return errand.connection == connection; });
}

PeerErrands::Errand PeerErrands::take(Errands::iterator errand) {
  Errand taken = std::move(*errand);
  errands_.erase(errand);
  if (taken.connection != 0) transport_.close(taken.connection);
  return taken;
}

void PeerErrands::on_connected(ConnectionId connection) {
  const auto errand = find(connection);
  if (errand == errands_.end()) return;
  std::string& out = transport_.output(connection);
  if (const auto* identify = std::get_if<Identify>(&errand->question)) {
    codec_.encode(identify->hello, out);
  } else {
    codec_.encode(std::get<Join>(errand->question).request, out);
  }
}

size_t PeerErrands::on_bytes(ConnectionId connection, std::string_view available) {
  size_t used = 0;
  while (used < available.size()) {
    const auto errand = find(connection);
    if (errand == errands_.end()) return available.size();  // answered
    const bool join = std::holds_alternative<Join>(errand->question);
    const auto frame =
        read_frame(available.substr(used), join ? kFrameBytesMax : kUnauthenticatedFrameBytesMax);
    if (!frame.ok()) {
      fail(connection, frame.status());
      return available.size();
    }
    if (!frame->has_value()) return used;
    used += (*frame)->bytes;
    on_frame(*errand, **frame);
  }
  return used;
}

void PeerErrands::on_frame(Errand& errand, const Frame& frame) {
  const ConnectionId connection = errand.connection;
  if (std::holds_alternative<Identify>(errand.question)) {
    Result<PeerWelcome> welcome = codec_.decode_welcome(frame);
    if (welcome.ok() && faults_.drops(welcome->node)) return;  // silence, until its time is over
    Errand done = take(find(connection));
    return std::get<Identify>(done.question).done(std::move(welcome));
  }
  if (frame.type == FrameType::kPeerValues) {
    const Status taken = take_part(errand, frame);
    if (!taken.ok()) fail(connection, taken);
    return;
  }
  Result<JoinAnswer> answer = codec_.decode_join_answer(frame, std::move(errand.parts));
  Errand done = take(find(connection));
  std::get<Join>(done.question).done(answer.ok() ? std::move(*answer) : JoinAnswer{answer.status(), {}, {}});
}

Status PeerErrands::take_part(Errand& errand, const Frame& frame) {
  if (errand.parts.size() + frame.values.size() > kPeerMessageBytesMax)
    return invalid_argument(cat("an answer of more than ", kPeerMessageBytesMax, " bytes"));
  errand.parts.append(frame.values);
  return {};
}

void PeerErrands::fail(ConnectionId connection, const Status& why) {
  const auto errand = find(connection);
  if (errand == errands_.end()) return;
  Errand failed = take(errand);
  answer_failed(failed.question, unavailable(cat(failed.address, ": ", why.message())));
}

void PeerErrands::on_closed(ConnectionId connection, const Status& why) { fail(connection, why); }

void PeerErrands::on_tick(Time now) {
  const auto is_due = [&](const Errand& errand) { return now >= errand.by; };
  for (auto due = std::find_if(errands_.begin(), errands_.end(), is_due); due != errands_.end();
       due = std::find_if(errands_.begin(), errands_.end(), is_due)) {
    Errand failed = take(due);
    answer_failed(failed.question, unavailable(cat(failed.address, ": no answer in time")));
  }
}

void PeerErrands::cancel_all(const Status& why) {
  while (!errands_.empty()) {
    Errand cancelled = take(std::prev(errands_.end()));
    answer_failed(cancelled.question, why);
  }
}

}  // namespace ringkv
