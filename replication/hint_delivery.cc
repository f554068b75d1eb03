#include "replication/hint_delivery.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/plants.h"
#include "storage/record_codec.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr Duration kDeliveryDeadline = std::chrono::seconds(5);
constexpr Duration kRestAfterFailure = std::chrono::seconds(1);
// What has just been acknowledged is on its way off the disk.
constexpr Duration kRestBetweenTurns = std::chrono::milliseconds(100);
constexpr Duration kQuick = std::chrono::milliseconds(20);
constexpr Duration kSlow = std::chrono::milliseconds(100);
constexpr size_t kWindowMax = 128;
constexpr size_t kBytesInFlightMax = size_t{4} << 20;

bool contains(const std::vector<NodeId>& nodes, NodeId node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// The others are of the one hint, and hold up none behind it.
bool is_of_the_receiver(StatusCode why) {
  return why == StatusCode::kOverloaded || why == StatusCode::kOutOfSpace ||
         why == StatusCode::kUnavailable || why == StatusCode::kStaleEpoch;
}

}  // namespace

void HintDelivery::tick(Moment moment, MessageOutbox& outbox) {
  for (const auto& [node, count] : environment_.hints.counts()) courses_.try_emplace(node);
  for (auto& [node, course] : courses_) {
    if (!goes_on(node, course)) {
      stop(course);
      continue;
    }
    expire(course, moment.now);
    pump(node, course, moment.now, outbox);
  }
  std::erase_if(courses_, [&](const auto& entry) {
    const Course& course = entry.second;
    return course.flights.empty() && course.ticket == 0 && !environment_.hints.counts().contains(entry.first);
  });
}

void HintDelivery::restart(NodeId node, Moment moment, MessageOutbox& outbox) {
  if (const auto at = courses_.find(node); at != courses_.end()) {
    stop(at->second);
    courses_.erase(at);
  }
  if (!environment_.hints.counts().contains(node)) return;
  Course& course = courses_[node];
  if (goes_on(node, course)) pump(node, course, moment.now, outbox);
}

// A member that can't be reached only has its hints looked through, once an epoch, for those of keys that it
// owns no longer.
bool HintDelivery::goes_on(NodeId node, const Course& course) const {
  const RingView& view = environment_.view;
  const bool is_member = view.ring().description().find_member(node) != nullptr;
  return !is_member || view.is_reachable(node) || course.redirected_epoch != view.ring().epoch();
}

void HintDelivery::pump(NodeId node, Course& course, Time now, MessageOutbox& outbox) {
  if (now < course.rests_until) return;
  while (!course.queue.empty() && course.flights.size() < course.window &&
         (course.flights.empty() || course.bytes_in_flight < kBytesInFlightMax)) {
    Hint hint = std::move(course.queue.front());
    course.queue.pop_front();
    send(node, course, std::move(hint), now, outbox);
  }
  if (course.ticket != 0) return;
  if (!course.at_end) {
    const bool has_room =
        course.queue.size() <= course.window / 2 && course.bytes_in_flight < kBytesInFlightMax;
    if (course.queue.empty() || has_room) read_on(node, course, outbox);
  } else if (course.queue.empty() && course.flights.empty()) {
    end_turn(node, course, now);
  }
}

void HintDelivery::read_on(NodeId node, Course& course, MessageOutbox& outbox) {
  course.ticket = environment_.next_number();
  by_ticket_.emplace(course.ticket, node);
  outbox.send(environment_.settings.self,
              ReadHints{course.ticket, {.intended = node, .after = course.after}});
}

bool HintDelivery::on(HintsRead& read, Moment moment, MessageOutbox& outbox) {
  const auto ticket = by_ticket_.find(read.ticket);
  if (ticket == by_ticket_.end()) return false;
  const NodeId node = ticket->second;
  by_ticket_.erase(ticket);
  const auto at = courses_.find(node);
  if (at == courses_.end() || at->second.ticket != read.ticket) return true;
  Course& course = at->second;
  course.ticket = 0;
  if (!read.status.ok()) {
    course.rests_until = moment.now + kRestAfterFailure;
    return true;
  }
  const auto is_in_flight = [&](const std::string& storage_key) {
    return std::any_of(course.flights.begin(), course.flights.end(),
                       [&](const auto& flight) { return flight.second.hint.storage_key == storage_key; });
  };
  course.at_end = read.slice.at_end || read.slice.hints.empty();
  for (HintSlice::Hint& hint : read.slice.hints) {
    std::string previous = std::exchange(course.after, hint.storage_key);
    if (is_in_flight(hint.storage_key)) continue;
    course.queue.push_back({std::move(hint.storage_key), std::move(previous),
                            std::make_shared<const std::string>(std::move(hint.record))});
  }
  pump(node, course, moment.now, outbox);
  return true;
}

void HintDelivery::send(NodeId node, Course& course, Hint hint, Time now, MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  const std::optional<StorageKeyParts> parts = parse_storage_key(hint.storage_key);
  Result<RecordHead> head = decode_record_head(*hint.record);
  const BucketDescription* bucket = parts ? view.ring().description().find_bucket(parts->bucket) : nullptr;
  if (bucket == nullptr || !head.ok()) {  // damaged, or of a ring that is yet to come
    course.passed_over = true;
    return;
  }
  const std::vector<NodeId> owners = view.holders_of(partition_of(parts->token, view.ring().partitions()));
  const bool redirected = !contains(owners, node);
  if (!redirected && !view.is_reachable(node)) return;
  const RequestNumber number = environment_.next_number();
  const ReplicaPut put{.request = number,
                       .bucket = std::string(parts->bucket),
                       .key = std::string(parts->key),
                       .record = hint.record,
                       .conflict = conflict_of(*bucket),
                       .source = Source::kHint,
                       .sync = true,
                       .deadline = now + kDeliveryDeadline};
  course.bytes_in_flight += hint.record->size();
  Flight& flight = course.flights[number];
  flight = {
      .hint = std::move(hint), .context = std::move(head->context), .redirected = redirected, .sent = now};
  by_number_.emplace(number, node);
  if (redirected) {
    flight.awaited = {owners.begin(), owners.end()};
    redirect(number, put, owners, outbox);
  } else {
    flight.awaited = {node};
    outbox.send(node, put);
  }
}

void HintDelivery::redirect(RequestNumber number, const ReplicaPut& put, const std::vector<NodeId>& owners,
                            MessageOutbox& outbox) {
  const RingView& view = environment_.view;
  for (const NodeId owner : owners) {
    ReplicaPut copy = put;
    if (owner == view.self()) copy.place = view.place(put.bucket, put.key);
    if (view.is_reachable(owner)) {
      outbox.send(owner, std::move(copy));
      continue;
    }
    outbox.send(view.self(), HintPut{.request = number,
                                     .intended = owner,
                                     .place = view.place(put.bucket, put.key),
                                     .bucket = put.bucket,
                                     .key = put.key,
                                     .record = put.record,
                                     .conflict = put.conflict,
                                     .sync = true,
                                     .deadline = put.deadline});
  }
}

bool HintDelivery::on(const ReplicaPutAck& ack, Moment moment, MessageOutbox& outbox) {
  const auto number = by_number_.find(ack.request);
  if (number == by_number_.end()) return false;
  const NodeId node = number->second;
  Course& course = courses_.at(node);
  Flight& flight = course.flights.at(ack.request);
  const NodeId owner = ack.hint_for ? ack.hint_for : ack.replica;
  if (!flight.awaited.contains(owner)) return true;
  if (!ack.status.ok() && !planted(Plant::kForgetRefusedHint)) {
    on_failure(course, ack.request, ack.status.code(), moment.now);
  } else {
    flight.awaited.erase(owner);
    if (flight.awaited.empty()) on_held(node, course, ack.request, moment.now, outbox);
  }
  if (goes_on(node, course)) pump(node, course, moment.now, outbox);
  return true;
}

void HintDelivery::on_held(NodeId node, Course& course, RequestNumber number, Time now,
                           MessageOutbox& outbox) {
  Flight flight = take(course, number);
  adapt(course, now - flight.sent, flight.sent, now);
  const std::optional<StorageKeyParts> parts = parse_storage_key(flight.hint.storage_key);
  outbox.send(environment_.settings.self,
              HintCovered{.intended = node,
                          .bucket = std::string(parts->bucket),
                          .key = std::string(parts->key),
                          .context = std::move(flight.context),
                          .reason = flight.redirected ? HintCovered::Reason::kRedirected
                                                      : HintCovered::Reason::kDelivered});
}

// The walk goes on from there after a rest, or passes it over.
void HintDelivery::on_failure(Course& course, RequestNumber number, StatusCode why, Time now) {
  const Flight flight = take(course, number);
  if (flight.redirected || !is_of_the_receiver(why)) {
    course.passed_over = true;
    return;
  }
  if (why == StatusCode::kOverloaded && flight.sent > course.window_since) halve(course, now);
  if (!course.queue.empty()) course.after = std::min(course.after, course.queue.front().previous);
  course.queue.clear();
  course.after = std::min(course.after, flight.hint.previous);
  course.at_end = false;
  course.ticket = 0;
  course.rests_until = now + kRestAfterFailure;
}

void HintDelivery::expire(Course& course, Time now) {
  std::vector<RequestNumber> silent;
  for (const auto& [number, flight] : course.flights) {
    if (now >= flight.sent + kDeliveryDeadline) silent.push_back(number);
  }
  for (const RequestNumber number : silent) on_failure(course, number, StatusCode::kOverloaded, now);
}

void HintDelivery::adapt(Course& course, Duration latency, Time sent, Time now) const {
  if (latency < kQuick) {
    course.window = std::min(course.window + 1, kWindowMax);
  } else if (latency > kSlow && sent > course.window_since) {
    halve(course, now);
  }
}

void HintDelivery::halve(Course& course, Time now) const {
  course.window = std::max<size_t>(course.window / 2, 1);
  course.window_since = now;
}

// What is left was merged meanwhile, was refused, or is being taken away.
void HintDelivery::end_turn(NodeId node, Course& course, Time now) const {
  const RingView& view = environment_.view;
  if (!view.is_reachable(node) && !course.passed_over) course.redirected_epoch = view.ring().epoch();
  course.rests_until = now + (course.passed_over ? kRestAfterFailure : kRestBetweenTurns);
  course.passed_over = false;
  course.at_end = false;
  course.after.clear();
}

HintDelivery::Flight HintDelivery::take(Course& course, RequestNumber number) {
  const auto at = course.flights.find(number);
  Flight flight = std::move(at->second);
  course.flights.erase(at);
  by_number_.erase(number);
  course.bytes_in_flight -= flight.hint.record->size();
  return flight;
}

void HintDelivery::stop(Course& course) {
  for (const auto& [number, flight] : course.flights) by_number_.erase(number);
  course = {.redirected_epoch = course.redirected_epoch};
}

size_t HintDelivery::under_way() const { return by_number_.size() + by_ticket_.size(); }

}  // namespace ringkv
