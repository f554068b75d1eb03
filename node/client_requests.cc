#include "node/client_requests.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"
#include "node/client_wording.h"

namespace ringkv {
namespace {

constexpr uint32_t kUnavailableRetriesMax = 3;
constexpr uint32_t kStaleRetriesAtOnceMax = 3;
constexpr Duration kRetryPauseFirst = std::chrono::milliseconds(50);
constexpr Duration kRetryPauseMax = std::chrono::milliseconds(800);
constexpr Duration kTimeoutMax = std::chrono::hours(24);
// The node answers this much earlier, since it can say more about what it lacked than we can.
constexpr Duration kNodeAnswersEarlierMax = std::chrono::milliseconds(100);

size_t bytes_of(const ClientRequest& request) {
  const auto* put = std::get_if<ClientPut>(&request.body);
  return put == nullptr ? 0 : put->value.size() + put->key.size();
}

const std::string* bucket_of(const ClientRequest& request) {
  if (const auto* put = std::get_if<ClientPut>(&request.body)) return &put->bucket;
  if (const auto* get = std::get_if<ClientGet>(&request.body)) return &get->bucket;
  return nullptr;
}

}  // namespace

ClientRequests::ClientRequests(ClientGround& ground, ClientRouter& router, Clock& clock, WireCodec& codec)
    : ground_(ground),
      router_(router),
      clock_(clock),
      codec_(codec),
      client_(ground.random.next() | 1) {}  // never zero

// ---- taking requests

Status ClientRequests::check(const ClientRequest& request) const {
  if (shut_down_) return unavailable(cat(subject_of(request), "this client was closed"));
  if (const std::string* key = key_of(request)) {
    const Status wrong = check_key(*key);
    if (!wrong.ok()) return wrong;
  }
  if (const auto* put = std::get_if<ClientPut>(&request.body)) {
    const Status wrong = check_value(put->key, put->value.size());
    if (!wrong.ok()) return wrong;
  }
  if (request.timeout <= Duration::zero()) return invalid_argument("the timeout must be longer than 0");
  if (users_requests_ >= ground_.options.requests_max) {
    return overloaded(cat(subject_of(request), users_requests_,
                          " requests are under way in this client, as many as it takes; wait for some"));
  }
  if (request_bytes_ + bytes_of(request) > kClientRequestBytesMax) {
    return overloaded(cat(subject_of(request), "requests under way in this client already hold ",
                          human_bytes(request_bytes_), "; wait for some"));
  }
  return {};
}

void ClientRequests::name_operation(ClientRequest& request) {
  auto* put = std::get_if<ClientPut>(&request.body);
  if (put != nullptr && !put->first_tried) put->operation = {client_, ++last_sequence_};
}

void ClientRequests::submit(ClientRequest request, Done done) {
  const Status refused = check(request);
  if (!refused.ok()) return done({refused, {}, 0, {}, ""});

  request.timeout = std::min(request.timeout, kTimeoutMax);
  const auto* put = std::get_if<ClientPut>(&request.body);
  const bool named = put != nullptr && put->first_tried;
  name_operation(request);
  Request entry;
  if (const std::string* bucket = bucket_of(request)) {
    const std::string& key = *key_of(request);
    entry.key = {digest_of(*bucket, key), identity_of(*bucket, key)};
  }
  entry.named = named;
  entry.request = std::move(request);
  entry.done = std::move(done);
  take(std::move(entry));
}

void ClientRequests::ask(ClientLink* link, ClientRequest::Body body, Duration timeout, Done done) {
  Request entry;
  entry.request = {std::move(body), timeout};
  entry.done = std::move(done);
  entry.own = true;
  entry.link = link;
  take(std::move(entry));
}

void ClientRequests::take(Request&& request) {
  const Number number = ++last_number_;
  request.deadline = clock_.now() + request.request.timeout;
  request.bytes = bytes_of(request.request);
  request_bytes_ += request.bytes;
  users_requests_ += request.own ? 0 : 1;
  deadlines_.emplace(request.deadline, number);
  Request& taken = requests_.emplace(number, std::move(request)).first->second;
  const bool writes = std::holds_alternative<ClientPut>(taken.request.body);
  if (writes && !write_order_.enter(taken.key->identity, number)) {
    taken.at = At::kBehindAnother;
    return;
  }
  ready_.push_back(number);
  send_ready();
}

// ---- sending

void ClientRequests::make_ready(Number number) {
  requests_.at(number).at = At::kReady;
  ready_.push_back(number);
}

// Not recursive, however many end on the way: each that ends may make another ready, or be followed by a
// submission.
void ClientRequests::send_ready() {
  if (sending_) return;
  sending_ = true;
  while (!ready_.empty()) {
    const Number number = ready_.front();
    ready_.pop_front();
    const auto found = requests_.find(number);
    if (found != requests_.end() && found->second.at == At::kReady) dispatch(number, found->second);
  }
  sending_ = false;
}

void ClientRequests::dispatch(Number number, Request& request) {
  const Time now = clock_.now();
  ClientRouter::Choice choice{std::exchange(request.link, nullptr), 0};
  if (choice.link == nullptr || !choice.link->usable()) {
    const auto* put = std::get_if<ClientPut>(&request.request.body);
    choice = router_.choose({.key = request.key ? &request.key->digest : nullptr,
                             .first_tried = put == nullptr ? Boot() : put->first_tried,
                             .passed_over = request.passed_over},
                            now);
  }
  if (choice.link == nullptr) {
    request.at = At::kUnserved;
    unserved_.insert(number);
    return;
  }
  request.link = choice.link;
  request.epoch = choice.epoch;
  if (choice.link->queue.empty() && choice.link->has_room()) return send(number, request);
  request.at = At::kQueued;
  choice.link->queue.insert(number);
}

void ClientRequests::send(Number number, Request& request) {
  const Time now = clock_.now();
  const Duration left = request.deadline - now;
  if (left <= Duration::zero()) return expire(number);
  const Status encoded = encode(number, request, left);
  if (!encoded.ok()) return finish(number, {encoded, {}, 0, {}, ""});
  request.at = At::kOnWire;
  request.sent_to = request.link->boot();
  request.link->on_sent(now);
}

Status ClientRequests::encode(Number number, Request& request, Duration left) {
  auto* put = std::get_if<ClientPut>(&request.request.body);
  const bool blind = put != nullptr && !put->context;
  if (blind) put->seen = seen_.seen(request.key->identity);
  const Duration timeout =
      std::exchange(request.request.timeout, left - std::min(left / 20, kNodeAnswersEarlierMax));
  Status encoded = codec_.encode(request.request, number, request.epoch, request.link->output());
  request.request.timeout = timeout;
  if (blind) put->seen = {};
  return encoded;
}

void ClientRequests::drain(ClientLink& link) {
  while (!link.queue.empty() && link.usable() && link.has_room()) {
    const Number number = link.queue.extract(link.queue.begin()).value();
    send(number, requests_.at(number));
  }
}

void ClientRequests::send_waiting(ClientLink& link) {
  drain(link);
  send_waiting();
}

void ClientRequests::send_waiting() {
  if (!unserved_.empty()) {
    for (const Number number : std::exchange(unserved_, {})) make_ready(number);
  }
  send_ready();
}

// Takes it from where it is; it is in none of the places afterwards.
void ClientRequests::withdraw(Number number, Request& request) {
  switch (request.at) {
    case At::kQueued:
      request.link->queue.erase(number);
      break;
    case At::kOnWire:
      request.link->on_abandoned();
      break;
    case At::kUnserved:
      unserved_.erase(number);
      break;
    case At::kStale:
      stale_.erase(number);
      break;
    case At::kReady:
    case At::kBehindAnother:
    case At::kPausing:
      break;
  }
  request.at = At::kReady;
  request.link = nullptr;
}

// For a request that is to be sent again.
ClientRequests::Number ClientRequests::renumber(Number number) {
  auto node = requests_.extract(number);
  CHECK(!node.empty());
  withdraw(number, node.mapped());
  const Number next = ++last_number_;
  node.key() = next;
  Request& request = node.mapped();
  request.earlier_values.clear();
  deadlines_.erase({request.deadline, number});
  deadlines_.emplace(request.deadline, next);
  requests_.insert(std::move(node));
  return next;
}

// ---- connections

// In order of their submission or last sending.
std::vector<ClientRequests::Number> ClientRequests::numbers_at(const ClientLink& link) const {
  std::vector<Number> numbers;
  for (const auto& [number, request] : requests_) {
    if (request.link == &link && (request.at == At::kOnWire || request.at == At::kQueued))
      numbers.push_back(number);
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

void ClientRequests::on_served(ClientLink& link) { drain(link); }

void ClientRequests::on_failed(ClientLink& link) {
  for (const Number number : std::exchange(link.queue, {})) {
    requests_.at(number).link = nullptr;
    make_ready(number);
  }
}

void ClientRequests::on_lost(ClientLink& link, const std::string& why) {
  for (const Number number : numbers_at(link)) {
    const auto found = requests_.find(number);
    if (found != requests_.end()) repeat_lost(number, found->second, why);
  }
}

void ClientRequests::repeat_lost(Number number, Request& request, const std::string& why) {
  if (request.at == At::kOnWire && is_nameless_change(request.request))
    return finish(number, {unknown_change(request.request, why), {}, 0, {}, ""});
  auto* put = std::get_if<ClientPut>(&request.request.body);
  const bool may_be_written = put != nullptr && request.at == At::kOnWire;
  if (may_be_written && !put->first_tried) put->first_tried = request.sent_to;
  const bool first_knows = may_be_written && put->first_tried == request.sent_to;
  ClientLink* const link = request.link;
  const Number next = renumber(number);
  if (!first_knows) return make_ready(next);
  request.link = link;
  request.at = At::kQueued;
  link->queue.insert(next);
}

void ClientRequests::on_quiet(ClientLink& link, ClientLink::Quiet quiet) {
  // Any answer will do, and it finds nobody.
  if (quiet == ClientLink::Quiet::kToBeAsked)
    (void)codec_.encode({ClientBuckets{}, ClientLink::kAnswersWithin}, ++last_number_, 0, link.output());
  if (quiet == ClientLink::Quiet::kSilent) move_reads_off(link);
}

void ClientRequests::move_reads_off(ClientLink& link) {
  for (const Number number : numbers_at(link)) {
    Request& request = requests_.at(number);
    if (request.at == At::kOnWire && !is_read(request.request)) continue;
    const ClientRouter::Choice other =
        router_.choose({.key = request.key ? &request.key->digest : nullptr}, clock_.now());
    if (other.link != nullptr) make_ready(renumber(number));
  }
}

void ClientRequests::on_routes() {
  for (const Number number : std::exchange(stale_, {})) make_ready(number);
}

// ---- answers

Status ClientRequests::on_frame(ClientLink& link, const Frame& frame) {
  const auto found = requests_.find(frame.request);
  if (found == requests_.end()) return {};  // too late: it has been answered
  Request& request = found->second;
  if (request.at != At::kOnWire || request.link != &link)
    return invalid_argument("an answer to a request that wasn't sent to it");
  return take_reply(link, frame, request);
}

Status ClientRequests::take_reply(ClientLink& link, const Frame& frame, Request& request) {
  if (frame.type == FrameType::kClientReplyValues) {
    if (request.earlier_values.size() + frame.values.size() > kReplyBytesMax)
      return invalid_argument("a reply that is larger than any");
    request.earlier_values += frame.values;
    return {};
  }
  Result<ClientReply> reply = codec_.decode_client_reply(frame, request.earlier_values);
  if (!reply.ok()) return reply.status();
  link.on_answered();
  request.at = At::kReady;
  // A put may have been forwarded, and is answered under the boot that took it.
  if (reply->boot && is_read(request.request)) link.set_boot(reply->boot);
  settle(frame.request, *std::move(reply));
  return {};
}

void ClientRequests::learn(const Request& request, const ClientReply& reply) {
  if (!request.key) return;
  seen_.note(SeenContexts::Key{request.key->identity, token_of(request.key->digest)}, reply);
}

void ClientRequests::settle(Number number, ClientReply reply) {
  Request& request = requests_.at(number);
  learn(request, reply);
  auto* put = std::get_if<ClientPut>(&request.request.body);
  if (auto* receipt = std::get_if<PutReceipt>(&reply.body);
      put != nullptr && receipt != nullptr && receipt->operation_id.empty()) {
    const Boot boot = put->first_tried ? put->first_tried : reply.boot;
    receipt->operation_id = to_text(OperationName{put->operation, boot});
  }
  if (put != nullptr && !reply.status.ok()) reply.status = outcome(request.request, reply);
  if (says_nothing_was_written(reply.status)) {
    if (retry_refused(number, request, reply.status)) return;
    if (put != nullptr && put->first_tried)
      reply.status = unknown_put(request.request, reply.status.to_string());
  }
  finish(number, std::move(reply));
}

// What a failure says about the operation of a put. Afterwards `first_tried` is set as long as the outcome of
// an earlier try is open.
Status ClientRequests::outcome(ClientRequest& request, const ClientReply& reply) const {
  auto& put = std::get<ClientPut>(request.body);
  if (put.first_tried && reply.boot != put.first_tried) {
    // Another boot's failure says nothing about what the first one did.
    return says_nothing_was_written(reply.status) ? reply.status
                                                  : unknown_put(request, reply.status.message());
  }
  if (reply.status.code() == StatusCode::kUnknownOutcome) {
    put.first_tried = reply.boot;
    return unknown_put(request, reply.status.message());
  }
  put.first_tried = {};
  return reply.status;
}

bool ClientRequests::retry_refused(Number number, Request& request, const Status& refusal) {
  if (request.named) return false;  // under another id it could be applied beside a repetition of this one
  // A change pinned to an epoch that has passed isn't possible any more.
  if (refusal.code() == StatusCode::kStaleEpoch && is_nameless_change(request.request)) return false;
  ++request.refusals;
  if (refusal.code() == StatusCode::kUnavailable && request.refusals > kUnavailableRetriesMax) return false;
  const Duration longest =
      std::min(kRetryPauseMax, kRetryPauseFirst * (1 << std::min<uint32_t>(request.refusals - 1, 8)));
  const Duration pause =
      longest / 2 + Duration(ground_.random.below(static_cast<uint64_t>(longest.count()) / 2 + 1));
  const Time at = clock_.now() + pause;
  if (at >= request.deadline) return false;

  request.refusal = refusal;
  name_operation(request.request);
  const Number next = renumber(number);
  const bool stale = refusal.code() == StatusCode::kStaleEpoch;
  request.passed_over += stale ? 0 : 1;
  if (stale && ground_.options.route && request.refusals <= kStaleRetriesAtOnceMax) {
    request.at = At::kStale;
    stale_.insert(next);
  } else {
    request.at = At::kPausing;
    pausing_.emplace(at, next);
  }
  return true;
}

void ClientRequests::finish(Number number, ClientReply reply) {
  auto node = requests_.extract(number);
  CHECK(!node.empty());
  Request& request = node.mapped();
  const bool behind = request.at == At::kBehindAnother;
  withdraw(number, request);
  deadlines_.erase({request.deadline, number});
  request_bytes_ -= request.bytes;
  users_requests_ -= request.own ? 0 : 1;
  if (behind) {
    write_order_.give_up(request.key->identity, number);
  } else if (std::holds_alternative<ClientPut>(request.request.body)) {
    const Number next = write_order_.leave(request.key->identity);
    if (next != 0) make_ready(next);
  }
  request.done(std::move(reply));
  send_ready();
}

// ---- time

void ClientRequests::on_tick(Time now) {
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) expire(deadlines_.begin()->second);
  while (!pausing_.empty() && pausing_.begin()->first <= now) {
    const Number number = pausing_.extract(pausing_.begin()).value().second;
    if (requests_.contains(number)) make_ready(number);
  }
  for (ClientLink* link : router_.links()) drain(*link);
  send_waiting();
}

void ClientRequests::expire(Number number) {
  const Request& request = requests_.at(number);
  const std::string after = cat("timed out after ", text_of(request.request.timeout), ", ");
  finish(number, {given_up(request, after + what_was_missing(request)), {}, 0, {}, ""});
}

Status ClientRequests::given_up(const Request& request, const std::string& why) const {
  ClientRequest asked = request.request;
  const bool sent = request.at == At::kOnWire;
  if (auto* put = std::get_if<ClientPut>(&asked.body)) {
    if (sent && !put->first_tried) put->first_tried = request.sent_to;
    if (put->first_tried) return unknown_put(asked, why);
  }
  if (sent && is_nameless_change(asked)) return unknown_change(asked, why);
  if (!sent && !request.refusal.ok() && !shut_down_) return request.refusal;
  return unavailable(cat(subject_of(asked), why));
}

std::string ClientRequests::what_was_missing(const Request& request) const {
  if (request.at == At::kOnWire) return cat(request.link->node().address(), " didn't answer");
  if (request.at == At::kBehindAnother)
    return "an earlier write of the key by this client is still under way";
  const std::string failures = router_.home().failures();
  if (router_.any_serving() || failures.empty())
    return cat("it couldn't be sent to ", router_.home().node().address(), " in time");
  return cat("no node answers: ", failures);
}

void ClientRequests::shut_down() {
  shut_down_ = sending_ = true;  // what waited behind another isn't sent any more
  while (!requests_.empty()) {
    const Number number = requests_.begin()->first;
    finish(number, {given_up(requests_.begin()->second, "this client was closed"), {}, 0, {}, ""});
  }
}

}  // namespace ringkv
