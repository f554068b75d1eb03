#include "node/client_session.h"

#include <algorithm>

#include "base/check.h"
#include "base/limits.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr uint32_t kUnavailableRetriesMax = 3;
constexpr Duration kRetryPauseFirst = std::chrono::milliseconds(50);
constexpr Duration kRetryPauseMax = std::chrono::milliseconds(800);
constexpr Duration kTimeoutMax = std::chrono::hours(24);
// The node answers this much earlier, since it can say more about what it lacked than we can.
constexpr Duration kNodeAnswersEarlierMax = std::chrono::milliseconds(100);

struct KeyOf {
  const std::string* operator()(const ClientPut& body) const { return &body.key; }
  const std::string* operator()(const ClientGet& body) const { return &body.key; }
  const std::string* operator()(const ClientLocalGet& body) const { return &body.key; }
  const std::string* operator()(const ClientExplain& body) const { return &body.key; }
  template <class Other>
  const std::string* operator()(const Other&) const {
    return nullptr;
  }
};

const std::string* key_of(const ClientRequest& request) { return std::visit(KeyOf(), request.body); }

std::string subject_of(const ClientRequest& request) {
  const std::string* key = key_of(request);
  if (key != nullptr) return cat("key ", display_key(*key), ": ");
  if (const auto* create = std::get_if<ClientCreateBucket>(&request.body))
    return cat("bucket '", escaped(create->bucket.name), "': ");
  if (const auto* change = std::get_if<ClientChangeBucket>(&request.body))
    return cat("bucket '", escaped(change->name), "': ");
  return "";
}

bool changes_buckets(const ClientRequest& request) {
  return std::holds_alternative<ClientCreateBucket>(request.body) ||
         std::holds_alternative<ClientChangeBucket>(request.body);
}

size_t bytes_of(const ClientRequest& request) {
  const auto* put = std::get_if<ClientPut>(&request.body);
  return put == nullptr ? 0 : put->value.size() + put->key.size();
}

std::string text_of(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? cat(ms / 1000, " s") : cat(ms, " ms");
}

bool says_nothing_was_written(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kOverloaded;
}

Status unknown_put(const ClientRequest& request, std::string_view why) {
  const auto& put = std::get<ClientPut>(request.body);
  const std::string name = to_text(OperationName{put.operation, put.first_tried});
  if (why.find(name) != std::string_view::npos) return unknown_outcome(std::string(why));
  return unknown_outcome(cat(subject_of(request), "it may have been written: ", why,
                             "; repeat it with operation id ", name, " to learn, or to finish it"));
}

Status unknown_bucket(const ClientRequest& request, std::string_view why) {
  return unknown_outcome(
      cat(subject_of(request), "it may have been changed: ", why, "; list the buckets to learn"));
}

}  // namespace

ClientSession::ClientSession(ClientOptions options, Transport& transport, Clock& clock, Random& random)
    : options_(std::move(options)),
      transport_(transport),
      clock_(clock),
      random_(random),
      client_(random.next() | 1),  // never zero
      dialer_(options_, transport, random, client_) {}

void ClientSession::connect(std::function<void(const Status&)> done) {
  on_first_round_ = std::move(done);
  dialer_.want(clock_.now());
}

// ---- taking requests

Status ClientSession::check(const ClientRequest& request) const {
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
  if (requests_.size() >= options_.requests_max) {
    return overloaded(cat(subject_of(request), requests_.size(),
                          " requests are under way in this client, as many as it takes; wait for some"));
  }
  if (request_bytes_ + bytes_of(request) > kClientRequestBytesMax) {
    return overloaded(cat(subject_of(request), "requests under way in this client already hold ",
                          human_bytes(request_bytes_), "; wait for some"));
  }
  return {};
}

void ClientSession::name_operation(ClientRequest& request) {
  auto* put = std::get_if<ClientPut>(&request.body);
  if (put != nullptr && !put->first_tried) put->operation = {client_, ++last_sequence_};
}

void ClientSession::submit(ClientRequest request, Done done) {
  const Status refused = check(request);
  if (!refused.ok()) return done({refused, {}, 0, {}});

  const Time now = clock_.now();
  request.timeout = std::min(request.timeout, kTimeoutMax);
  name_operation(request);
  const Number number = ++last_number_;
  Request entry;
  entry.deadline = now + request.timeout;
  entry.bytes = bytes_of(request);
  entry.request = std::move(request);
  entry.done = std::move(done);
  request_bytes_ += entry.bytes;
  deadlines_.emplace(entry.deadline, number);
  Request& taken = requests_.emplace(number, std::move(entry)).first->second;
  if (waiting_.empty() && can_send()) return send(number, taken);
  waiting_.insert(number);
  send_waiting();
}

// ---- sending

bool ClientSession::can_send() const {
  return dialer_.serving() && transport_.unsent_bytes(dialer_.connection()) <= kUnsentBytesMax;
}

void ClientSession::send_waiting() {
  if (!dialer_.serving() && !waiting_.empty()) dialer_.want(clock_.now());
  while (!waiting_.empty() && can_send()) {
    const Number number = waiting_.extract(waiting_.begin()).value();
    send(number, requests_.at(number));
  }
}

void ClientSession::send(Number number, Request& request) {
  const Time now = clock_.now();
  const Duration left = request.deadline - now;
  if (left <= Duration::zero()) return expire(number);
  const Duration timeout =
      std::exchange(request.request.timeout, left - std::min(left / 20, kNodeAnswersEarlierMax));
  const Status encoded = codec_.encode(request.request, number, 0, transport_.output(dialer_.connection()));
  request.request.timeout = timeout;
  if (!encoded.ok()) return finish(number, {encoded, {}, 0, {}});
  request.on_wire = true;
  request.sent_to = boot_;
  request.sent_at = now;
}

// For a request that is to be sent again.
ClientSession::Number ClientSession::renumber(Number number) {
  auto node = requests_.extract(number);
  CHECK(!node.empty());
  const Number next = ++last_number_;
  node.key() = next;
  Request& request = node.mapped();
  request.on_wire = false;
  request.earlier_values.clear();
  deadlines_.erase({request.deadline, number});
  deadlines_.emplace(request.deadline, next);
  requests_.insert(std::move(node));
  return next;
}

// ---- the connection

void ClientSession::on_connected(ConnectionId connection) {
  if (connection == dialer_.connection()) dialer_.on_connected(codec_);
}

void ClientSession::on_dialed(ClientDialer::Event event) {
  if (event == ClientDialer::Event::kNothing) return;
  if (event == ClientDialer::Event::kServing) {
    heard_at_ = clock_.now();
    boot_ = dialer_.welcome().boot;
  }
  if (on_first_round_) {
    const auto done = std::exchange(on_first_round_, nullptr);
    done(event == ClientDialer::Event::kServing ? Status()
                                                : unavailable(cat("no node answers: ", dialer_.failures())));
  }
  send_waiting();
}

size_t ClientSession::on_bytes(ConnectionId connection, std::string_view available) {
  size_t used = 0;
  while (connection == dialer_.connection()) {
    const auto frame = read_frame(available.substr(used), kFrameBytesMax);
    Status wrong = frame.status();
    if (frame.ok()) {
      heard_at_ = clock_.now();
      if (!frame->has_value()) break;
      used += (*frame)->bytes;
      wrong = take_frame(**frame);
    }
    if (wrong.ok()) continue;
    transport_.close(connection);
    if (dialer_.serving()) {
      lose(false, cat(dialer_.node(), " sent ", wrong.message()));
    } else {
      const Status why = unavailable(cat("it doesn't speak ringkv's protocol: it sent ", wrong.message()));
      on_dialed(dialer_.on_closed(why, clock_.now()));
    }
  }
  send_waiting();
  return connection == dialer_.connection() ? used : available.size();
}

// Not OK: the connection can't be used any more.
Status ClientSession::take_frame(const Frame& frame) {
  if (!dialer_.serving()) {
    on_dialed(dialer_.on_greeting(frame, codec_, clock_.now()));
    return {};
  }
  const auto found = requests_.find(frame.request);
  if (found == requests_.end()) return {};  // too late: it has been answered
  if (!found->second.on_wire) return invalid_argument("an answer to a request that wasn't sent");
  return take_reply(frame, found->second);
}

Status ClientSession::take_reply(const Frame& frame, Request& request) {
  if (frame.type == FrameType::kClientReplyValues) {
    if (request.earlier_values.size() + frame.values.size() > kReplyBytesMax)
      return invalid_argument("a reply that is larger than any");
    request.earlier_values += frame.values;
    return {};
  }
  Result<ClientReply> reply = codec_.decode_client_reply(frame, request.earlier_values);
  if (!reply.ok()) return reply.status();
  settle(frame.request, std::move(*reply));
  return {};
}

void ClientSession::on_closed(ConnectionId connection, const Status& why) {
  if (connection != dialer_.connection()) return;
  if (!dialer_.serving()) return on_dialed(dialer_.on_closed(why, clock_.now()));
  lose(false, cat("the connection to ", dialer_.node(), " was lost (", why.message(), ")"));
}

void ClientSession::lose(bool silent, const std::string& why) {
  dialer_.lose(silent, clock_.now());

  std::vector<Number> lost;
  for (const auto& [number, request] : requests_) {
    if (request.on_wire) lost.push_back(number);
  }
  std::sort(lost.begin(), lost.end());
  std::vector<Number> unknown;
  for (const Number number : lost) {
    const Boot boot = requests_.at(number).sent_to;
    ClientRequest& request = requests_.at(number).request;
    if (auto* put = std::get_if<ClientPut>(&request.body); put != nullptr && !put->first_tried)
      put->first_tried = boot;
    if (changes_buckets(request)) {
      unknown.push_back(number);
    } else {
      waiting_.insert(renumber(number));
    }
  }
  for (const Number number : unknown)
    finish(number, {unknown_bucket(requests_.at(number).request, why), {}, 0, {}});
}

// ---- answers

void ClientSession::settle(Number number, ClientReply reply) {
  if (reply.boot) boot_ = reply.boot;
  Request& request = requests_.at(number);
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
Status ClientSession::outcome(ClientRequest& request, const ClientReply& reply) const {
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

bool ClientSession::retry_refused(Number number, Request& request, const Status& refusal) {
  ++request.refusals;
  if (refusal.code() == StatusCode::kUnavailable && request.refusals > kUnavailableRetriesMax) return false;
  const Duration longest =
      std::min(kRetryPauseMax, kRetryPauseFirst * (1 << std::min<uint32_t>(request.refusals - 1, 8)));
  const Duration pause =
      longest / 2 + Duration(random_.below(static_cast<uint64_t>(longest.count()) / 2 + 1));
  const Time at = clock_.now() + pause;
  if (at >= request.deadline) return false;

  request.refusal = refusal;
  name_operation(request.request);
  pausing_.emplace(at, renumber(number));
  return true;
}

void ClientSession::finish(Number number, ClientReply reply) {
  auto node = requests_.extract(number);
  CHECK(!node.empty());
  Request& request = node.mapped();
  deadlines_.erase({request.deadline, number});
  waiting_.erase(number);
  request_bytes_ -= request.bytes;
  request.done(std::move(reply));
}

// ---- time

void ClientSession::on_tick(Time now) {
  on_dialed(dialer_.on_tick(now));
  while (!deadlines_.empty() && deadlines_.begin()->first <= now) expire(deadlines_.begin()->second);
  while (!pausing_.empty() && pausing_.begin()->first <= now) {
    const Number number = pausing_.extract(pausing_.begin()).value().second;
    if (requests_.contains(number)) waiting_.insert(number);
  }
  send_waiting();
}

void ClientSession::expire(Number number) {
  const Request& request = requests_.at(number);
  // A node that has said nothing at all in all that time is gone, whatever TCP believes; one that has is only
  // slow, and its connection serves others.
  const bool silent = request.on_wire && heard_at_ <= request.sent_at &&
                      request.deadline - request.sent_at >= options_.connect_timeout;
  const std::string why = cat(dialer_.node(), " has gone silent");
  finish(number, {timed_out(request), {}, 0, {}});
  if (!silent || !dialer_.serving()) return;
  transport_.close(dialer_.connection());
  lose(true, why);
}

Status ClientSession::timed_out(const Request& request) const {
  const std::string after = cat("timed out after ", text_of(request.request.timeout), ", ");
  ClientRequest asked = request.request;
  if (auto* put = std::get_if<ClientPut>(&asked.body)) {
    if (request.on_wire && !put->first_tried) put->first_tried = request.sent_to;
    if (put->first_tried) return unknown_put(asked, after + node_did_not_answer(request));
  }
  if (request.on_wire && changes_buckets(asked))
    return unknown_bucket(asked, after + node_did_not_answer(request));
  if (!request.on_wire && !request.refusal.ok()) return request.refusal;
  return unavailable(cat(subject_of(asked), after, node_did_not_answer(request)));
}

std::string ClientSession::node_did_not_answer(const Request& request) const {
  if (request.on_wire) return cat(dialer_.node(), " didn't answer");
  const std::string failures = dialer_.failures();
  if (dialer_.serving() || failures.empty())
    return cat("it couldn't be sent to ", dialer_.node(), " in time");
  return cat("no node answers: ", failures);
}

void ClientSession::shut_down() {
  shut_down_ = true;
  while (!requests_.empty()) {
    const Number number = requests_.begin()->first;
    Request& request = requests_.begin()->second;
    constexpr std::string_view kWhy = "this client was closed";
    auto* put = std::get_if<ClientPut>(&request.request.body);
    if (put != nullptr && request.on_wire && !put->first_tried) put->first_tried = request.sent_to;
    Status status = unavailable(cat(subject_of(request.request), kWhy));
    if (put != nullptr && put->first_tried) status = unknown_put(request.request, kWhy);
    if (request.on_wire && changes_buckets(request.request)) status = unknown_bucket(request.request, kWhy);
    finish(number, {std::move(status), {}, 0, {}});
  }
}

}  // namespace ringkv
