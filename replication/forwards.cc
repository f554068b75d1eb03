#include "replication/forwards.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "replication/admission.h"

namespace ringkv {

void Forwards::start(const Arrival& arrival, ClientRequest request, NodeId to, std::vector<NodeId> full,
                     MessageOutbox& outbox) {
  Forward forward{.requesters = {arrival.requester},
                  .request = std::move(request),
                  .to = to,
                  .deadline = arrival.deadline,
                  .epoch = environment_.view.ring().epoch(),
                  .full = std::move(full)};
  const RequestNumber number = environment_.numbers.next();
  environment_.numbers.wake(number, forward.deadline);
  environment_.statistics.count_forwarded();
  if (auto* put = std::get_if<ClientPut>(&forward.request.body)) {
    forward.held_bytes = bytes_of(*put);
    // This node's table says that it hasn't been sent anywhere: for its target it is a first try.
    put->first_tried = {};
    if (put->operation) {
      const Token token = environment_.view.place(put->bucket, put->key).token;
      environment_.operations.begin(put->operation, {.request = number, .token = token}, forward.deadline);
    }
  }
  environment_.held_bytes += forward.held_bytes;
  send(number, forward, outbox);
  forwards_.emplace(number, std::move(forward));
}

void Forwards::send(RequestNumber number, const Forward& forward, MessageOutbox& outbox) const {
  outbox.send(forward.to, ForwardedRequest{number, forward.request, forward.deadline});
}

bool Forwards::add_requester(RequestNumber request, const Requester& requester) {
  const auto forward = forwards_.find(request);
  if (forward == forwards_.end()) return false;
  forward->second.requesters.push_back(requester);
  return true;
}

std::optional<Forwards::Returned> Forwards::on(ForwardedReply reply, MessageOutbox& outbox) {
  const auto at = forwards_.find(reply.request);
  if (at == forwards_.end()) return std::nullopt;  // already answered
  Forward& forward = at->second;
  if (reply.reply.status.code() == StatusCode::kStaleEpoch && reply.reply.epoch > forward.epoch) {
    environment_.statistics.count_stale_epoch();
    if (forward.put() != nullptr && forward.resent) {
      lose(reply.request, unavailable("it has a newer ring now"), outbox);
      return std::nullopt;
    }
    forward.refused = true;
    if (forward.put() == nullptr || environment_.view.ring().epoch() <= forward.epoch) return std::nullopt;
    return take_back(reply.request);
  }
  if (reply.reply.status.code() == StatusCode::kOutOfSpace && forward.put() != nullptr && !forward.resent) {
    forward.full.push_back(forward.to);
    if (environment_.view.ring().epoch() != forward.epoch) forward.full.clear();
    Returned returned = take_back(reply.request);
    returned.why_full = std::move(reply.reply.status);
    return returned;
  }
  finish(reply.request, reply.reply, outbox);
  return std::nullopt;
}

// What its target may have taken stays with it. The rest begins anew.
std::vector<Forwards::Returned> Forwards::on_ring(MessageOutbox& outbox) {
  std::vector<Returned> returned;
  for (const RequestNumber number : sorted_numbers(forwards_)) {
    Forward& forward = forwards_.at(number);
    if (!forward.refused) continue;
    if (forward.put() != nullptr) {
      returned.push_back(take_back(number));
    } else {
      forward.refused = false;
      forward.epoch = environment_.view.ring().epoch();
      send(number, forward, outbox);
    }
  }
  return returned;
}

Forwards::Returned Forwards::take_back(RequestNumber number) {
  auto taken = forwards_.extract(number);
  Forward& forward = taken.mapped();
  environment_.held_bytes -= forward.held_bytes;
  Returned returned{std::move(forward.requesters),
                    std::move(std::get<ClientPut>(forward.request.body)),
                    forward.deadline,
                    std::move(forward.full),
                    {}};
  if (returned.put.operation) environment_.operations.forget(returned.put.operation);
  return returned;
}

void Forwards::finish(RequestNumber number, const ClientReply& reply, MessageOutbox& outbox) {
  const auto taken = forwards_.extract(number);
  const Forward& forward = taken.mapped();
  environment_.held_bytes -= forward.held_bytes;
  for (const Requester& requester : forward.requesters) {
    // As its target gave it, with its boot: whoever asks again asks that life.
    if (requester.forwarded_by) {
      outbox.send(requester.forwarded_by, ForwardedReply{requester.request, reply});
    } else {
      outbox.send(environment_.settings.self, ClientAnswer{requester, reply});
    }
  }
  if (forward.put() == nullptr || !forward.put()->operation) return;
  environment_.operations.decide(forward.put()->operation, outcome_of(reply.status), 0, reply.seen);
}

// Its answer won't come.
void Forwards::lose(RequestNumber number, const Status& why, MessageOutbox& outbox) {
  const Forward& forward = forwards_.at(number);
  ClientReply reply;
  reply.epoch = environment_.view.ring().epoch();
  reply.boot = environment_.settings.boot;
  reply.status = unavailable(why.message());
  if (const ClientPut* put = forward.put(); put != nullptr && !forward.refused) {
    reply.status = unknown_outcome_of(
        put->key, {put->operation, environment_.settings.boot},
        cat("it was handed to ", environment_.view.name_of(forward.to), ", and ", why.message()));
  }
  finish(number, reply, outbox);
}

void Forwards::on_view(MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const RequestNumber number : sorted_numbers(forwards_)) {
    const NodeId to = forwards_.at(number).to;
    if (!view.is_reachable(to)) lose(number, view.unreachable(to), outbox);
  }
}

// A put may have arrived. Sent again it says that it was tried before, so that a life that doesn't know it
// only looks for it; without a name nobody can know it.
void Forwards::on_link_restored(NodeId node, MessageOutbox& outbox) {
  for (const RequestNumber number : sorted_numbers(forwards_)) {
    Forward& forward = forwards_.at(number);
    if (forward.to != node || forward.refused) continue;
    auto* put = std::get_if<ClientPut>(&forward.request.body);
    if (put != nullptr && !put->operation) {
      lose(number, unavailable(cat("the connection to ", environment_.view.name_of(node), " was lost")),
           outbox);
      continue;
    }
    if (put != nullptr) put->first_tried = environment_.settings.boot;
    forward.resent = true;
    send(number, forward, outbox);
  }
}

void Forwards::expire(RequestNumber request, Time now, MessageOutbox& outbox) {
  const auto at = forwards_.find(request);
  if (at == forwards_.end() || now < at->second.deadline) return;
  lose(request,
       unavailable(cat(environment_.view.name_of(at->second.to), " has not answered before its deadline")),
       outbox);
}

void Forwards::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const RequestNumber number : sorted_numbers(forwards_)) lose(number, why, outbox);
}

}  // namespace ringkv
