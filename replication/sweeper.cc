#include "replication/sweeper.h"

#include <algorithm>
#include <utility>

#include "base/plants.h"
#include "base/text.h"
#include "storage/storage_key.h"

namespace ringkv {
namespace {

constexpr Duration kTurnPause = std::chrono::milliseconds(200);
constexpr Duration kIdlePause = std::chrono::seconds(60);
constexpr Duration kErasurePatience = std::chrono::seconds(1);  // behind other changes of its key
constexpr uint64_t kSkewBoundMs = 5000;

// When all of it has run out; 0: it is no value that expires.
uint64_t expiry_of(const RecordOutline& outline) {
  uint64_t expiry = 0;
  for (const Version& version : outline.versions) expiry = std::max(expiry, version.expires_at_ms);
  return expiry;
}

}  // namespace

void Sweeper::tick(Moment moment, MessageOutbox& outbox) {
  std::erase_if(purges_, [&](const Purge& purge) {
    if (moment.now < purge.deadline) return false;
    environment_.answer(purge.requester, refusal(unavailable("purge: timed out; it goes on by itself")),
                        outbox);
    return true;
  });
  if (std::exchange(environment_.floors_raised, false)) due_ = true;
  if (last_.next_expiry_ms && time_trusted_ && milliseconds(moment.wall_now) >= *last_.next_expiry_ms)
    due_ = true;
  if (!under_way_) {
    const bool idle = !due_ && purges_.empty() && moment.now < next_turn_at_ + kIdlePause;
    if (moment.now >= next_turn_at_ && !idle) begin_turn(outbox);
    return;
  }
  if (ticket_ != 0) return;
  settle_erasures(moment.now);
  if (!erasures_.empty()) return;
  if (!at_end_) return read_on(outbox);
  end_turn(moment.now);
  answer_purges({}, outbox);
}

void Sweeper::begin_turn(MessageOutbox& outbox) {
  due_ = false;
  under_way_ = true;
  at_end_ = false;
  ++turn_;
  found_ = {};
  position_.clear();
  read_on(outbox);
}

void Sweeper::read_on(MessageOutbox& outbox) {
  ticket_ = environment_.next_number();
  outbox.send(environment_.settings.self, ReadTransient{ticket_, {.after = position_}});
}

bool Sweeper::on(TransientRead& read, Moment moment, MessageOutbox& outbox) {
  if (read.ticket != ticket_) return false;
  ticket_ = 0;
  if (!read.status.ok()) {
    under_way_ = false;
    next_turn_at_ = moment.now + kTurnPause;
    answer_purges(read.status, outbox);
    return true;
  }
  for (const TransientSlice::Entry& entry : read.slice.entries) look_at(entry, moment, outbox);
  position_ = std::move(read.slice.last);
  at_end_ = read.slice.at_end;
  return true;
}

// What was read may be older than what is staged; the replica looks again under the key's latch.
void Sweeper::look_at(const TransientSlice::Entry& entry, Moment moment, MessageOutbox& outbox) {
  const std::optional<StorageKeyParts> parts = parse_storage_key(entry.storage_key);
  if (!parts) return;
  Place place = environment_.view.place(parts->bucket, parts->key);
  const RecordHead& head = entry.outline.head;
  if (head.absent() || !head.transient) return environment_.store.forget_transient(place);
  ++found_.records;
  if (is_blocked(place.partition, head)) {
    ++found_.blocked;
    return;
  }
  const uint64_t expiry = expiry_of(entry.outline);
  const uint64_t goes_at = expiry + kSkewBoundMs + 1;
  if (expiry != 0 && (!time_trusted_ || milliseconds(moment.wall_now) < goes_at)) {
    found_.next_expiry_ms = std::min(found_.next_expiry_ms.value_or(goes_at), goes_at);
    return;
  }
  erasures_.push_back({place, head.dots, expiry != 0, moment.now});
  outbox.send(environment_.settings.self, EraseRecord{std::move(place), entry.storage_key});
}

// By every life that has written something of it that isn't known to be merged here.
bool Sweeper::is_blocked(Partition partition, const RecordHead& head) {
  const RecordStore& store = environment_.store;
  CausalContext context = head.context;
  store.restore(context);
  for (const Dot& dot : head.dots) context.vector.raise(dot.actor, dot.counter);
  bool blocked = false;
  for (const VersionVector::Entry& covered : context.vector.entries()) {
    if (store.floor_covers(partition, {covered.actor, covered.counter})) continue;
    Blocked& by = found_.blocked_by[covered.actor];
    by.oldest = by.records++ == 0 ? context.highest_time : std::min(by.oldest, context.highest_time);
    blocked = true;
  }
  return blocked && !planted(Plant::kPurgeAboveFloor);
}

// A record that has changed meanwhile stays; one whose key has other changes to wait for is waited for.
void Sweeper::settle_erasures(Time now) {
  RecordStore& store = environment_.store;
  std::erase_if(erasures_, [&](const Erasure& erasure) {
    if (now >= erasure.asked_at + kErasurePatience) return true;
    const Result<std::optional<RecordHead>> head = store.newest_head(erasure.place);
    if (!head.ok()) return true;
    if (!*head) return false;
    if (!(*head)->absent()) return (*head)->dots != erasure.dots;
    if (store.pending(erasure.place) != 0) return false;
    ++found_.erased;
    ++(erasure.expired ? environment_.statistics.expired_erased : environment_.statistics.tombstones_erased);
    return true;
  });
}

void Sweeper::end_turn(Time now) {
  under_way_ = false;
  next_turn_at_ = now + kTurnPause;
  found_.records -= found_.erased;
  last_ = std::exchange(found_, {});
}

void Sweeper::on(const Arrival& arrival, const ClientPurge&, MessageOutbox&) {
  purges_.push_back({arrival.requester, arrival.deadline, turn_ + 1});
  due_ = true;
}

void Sweeper::answer_purges(const Status& status, MessageOutbox& outbox) {
  std::erase_if(purges_, [&](const Purge& purge) {
    if (turn_ < purge.turn) return false;
    if (!status.ok()) {
      environment_.answer(purge.requester, refusal(status), outbox);
      return true;
    }
    PurgeReport report{.erased = last_.erased, .blocked = last_.blocked, .blocked_by = {}};
    std::vector<std::pair<Actor, Blocked>> blocked(last_.blocked_by.begin(), last_.blocked_by.end());
    std::sort(blocked.begin(), blocked.end(),
              [](const auto& a, const auto& b) { return a.second.oldest < b.second.oldest; });
    for (const auto& [actor, by] : blocked) report.blocked_by.push_back(blocked_text(actor, by));
    ClientReply reply;
    reply.body = std::move(report);
    environment_.answer(purge.requester, std::move(reply), outbox);
    return true;
  });
}

std::string Sweeper::blocked_text(const Actor& actor, const Blocked& blocked) const {
  return cat(blocked.records, " records wait until the writes of ", environment_.view.name_of(actor.node),
             "'s life ", hex(actor.boot.value), " are known to be merged here");
}

void Sweeper::add_to(Statistics& statistics, WallMicros wall_now) const {
  statistics["transient.records"] = static_cast<double>(last_.records);
  statistics["transient.blocked"] = static_cast<double>(last_.blocked);
  uint64_t oldest_s = 0;
  for (const auto& [actor, blocked] : last_.blocked_by) {
    const std::string member = environment_.view.name_of(actor.node);
    statistics[cat("transient.blocked_by.", member, ".", hex(actor.boot.value))] =
        static_cast<double>(blocked.records);
    if (wall_now > blocked.oldest) oldest_s = std::max(oldest_s, (wall_now - blocked.oldest) / 1'000'000);
  }
  statistics["transient.oldest_blocked_s"] = static_cast<double>(oldest_s);
}

void Sweeper::fail_all(const Status& why, MessageOutbox& outbox) {
  for (const Purge& purge : std::exchange(purges_, {})) {
    environment_.answer(purge.requester, refusal(unavailable(why.message())), outbox);
  }
}

}  // namespace ringkv
