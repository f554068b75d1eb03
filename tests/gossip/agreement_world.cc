#include "tests/gossip/agreement_world.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/ring_description.h"
#include "base/text.h"

namespace ringkv {
namespace {

constexpr std::string_view kRingKey = "ring";
constexpr size_t kNodesMax = 9;
constexpr size_t kPacketsMax = 200;

Duration milliseconds(uint64_t count) { return std::chrono::milliseconds(count); }

Electorate electorate_of(const ToyRing& ring, const std::string& bytes) {
  return {.epoch = ring.epoch, .digest = ring_digest(bytes), .seats = ring.seats};
}

bool names(const ToyRing& ring, NodeId node) {
  return std::any_of(ring.seats.begin(), ring.seats.end(),
                     [node](const Electorate::Seat& seat) { return seat.node == node; });
}

bool has_seat(const ToyRing& ring, NodeId node, DiskId disk) {
  return std::find(ring.seats.begin(), ring.seats.end(), Electorate::Seat{node, disk}) != ring.seats.end();
}

}  // namespace

std::string ToyRing::encode() const {
  std::string bytes;
  ByteWriter out(bytes);
  out.u64(epoch);
  out.u64(mark);
  out.varint(seats.size());
  for (const Electorate::Seat& seat : seats) {
    out.u64(seat.node.value);
    out.u64(seat.disk.value);
  }
  return bytes;
}

ToyRing ToyRing::decode(std::string_view bytes) {
  ByteReader in(bytes);
  ToyRing ring;
  ring.epoch = in.u64();
  ring.mark = in.u64();
  ring.seats.resize(in.count(16));
  for (Electorate::Seat& seat : ring.seats) {
    seat.node = {in.u64()};
    seat.disk = {in.u64()};
  }
  CHECK(in.finished());
  return ring;
}

AgreementWorld::AgreementWorld(uint64_t seed, AgreementCoverage& coverage)
    : random_(seed), coverage_(coverage) {
  // Some histories have little of this and much of that: so each fault is also met alone.
  const auto draw = [this](uint64_t max) { return random_.one_in(2) ? 0 : random_.below(max + 1); };
  rates_ = {.crash = draw(40),
            .wipe = draw(10),
            .copy = draw(10),
            .restore = draw(60),
            .propose = 3 + random_.below(50),
            .lose = draw(20),
            .repeat = draw(20)};
  ToyRing ring;
  // Small rings go wrong soonest.
  const uint64_t voters = random_.one_in(2) ? 3 : 1 + random_.below(7);
  for (uint64_t i = 1; i <= voters; ++i) ring.seats.push_back({{i}, {10 + i}});
  const std::string bytes = ring.encode();
  chosen_[ring.epoch] = bytes;
  for (const Electorate::Seat& seat : ring.seats) start(seat.node, {seat.disk, bytes, "", ""});
}

std::string AgreementWorld::explore(uint64_t steps) {
  for (uint64_t i = 0; i < steps && violation_.empty(); ++i) step();
  if (violation_.empty()) make_peace();
  return violation_;
}

void AgreementWorld::step() {
  uint64_t what = random_.below(1000);
  const auto falls_to = [&what](uint64_t rate) {
    const bool falls = what < rate;
    what -= falls ? 0 : rate;
    return falls;
  };
  Life* life = pick();
  if (life == nullptr || falls_to(20)) {
    restart_one();
  } else if (falls_to(rates_.crash)) {
    stop(most_to_lose());
    if (random_.one_in(2)) restart_one();
  } else if (falls_to(rates_.wipe)) {
    wipe_one();
  } else if (falls_to(rates_.copy)) {
    copy_one();
  } else if (falls_to(rates_.restore)) {
    restore_one();
  } else if (falls_to(rates_.propose)) {
    propose(*life);
  } else if (falls_to(20)) {
    tell(*life, lives_[random_.below(lives_.size())]->node);
  } else if (falls_to(250)) {
    sync(*life, random_.below(life->unsynced.size() + 1));
  } else if (falls_to(80)) {
    now_ += milliseconds(random_.below(60));
    tick(*life);
  } else if (!network_.empty()) {
    const size_t index = random_.below(network_.size());
    Packet packet = network_[index];
    if (random_.below(100) >= rates_.repeat) {
      network_[index] = std::move(network_.back());
      network_.pop_back();
    }
    if (random_.below(100) >= rates_.lose) deliver(std::move(packet));
  }
}

AgreementWorld::Life* AgreementWorld::pick() {
  return lives_.empty() ? nullptr : lives_[random_.below(lives_.size())].get();
}

void AgreementWorld::start(NodeId node, Disk disk) {
  auto life = std::make_unique<Life>();
  life->node = node;
  life->boot = {++last_id_};
  life->ring_bytes = disk.ring;
  life->ring = ToyRing::decode(disk.ring);
  Result<EpochRegister> opened = EpochRegister::open(
      {node, disk.id, life->boot}, electorate_of(life->ring, disk.ring), disk.votes,
      [this, node](NodeId other) { return known_[node][other].boot; }, random_);
  CHECK(opened.ok());
  life->agreement = std::make_unique<EpochRegister>(*std::move(opened));
  life->older_copy = std::make_unique<OlderCopy>(node, disk.boots);
  CHECK(life->older_copy->load(disk.older_copy).ok());
  disk.boots.push_back(life->boot);
  life->disk = std::move(disk);
  lives_.push_back(std::move(life));
}

size_t AgreementWorld::most_to_lose() {
  const size_t one = random_.below(lives_.size());
  const size_t other = random_.below(lives_.size());
  return lives_[one]->unsynced.size() > lives_[other]->unsynced.size() ? one : other;
}

// kill -9, or the power: of what wasn't synced some beginning may have reached the disk.
void AgreementWorld::stop(size_t index) {
  Life& life = *lives_[index];
  size_t survive = random_.one_in(2) ? 0 : random_.below(life.unsynced.size() + 1);
  for (const Effect& effect : life.unsynced) {
    const auto* record = std::get_if<MetaRecord>(&effect);
    if (record == nullptr) continue;
    if (survive > 0) {
      write(life.disk, *record);
      --survive;
    } else if (record->key == kAcceptorKey) {
      ++coverage_.votes_forgotten;
    }
  }
  if (!life.replaced) down_[life.node] = std::move(life.disk);
  lives_.erase(lives_.begin() + static_cast<std::ptrdiff_t>(index));
}

void AgreementWorld::restart_one() {
  if (down_.empty()) return;
  auto it = std::next(down_.begin(), static_cast<std::ptrdiff_t>(random_.below(down_.size())));
  auto node = down_.extract(it);
  start(node.key(), std::move(node.mapped()));
}

// An empty directory takes a node's place and is told the ring. Of each ring that somebody still goes by, a
// majority of the voters keep their disks.
void AgreementWorld::wipe_one() {
  const Life* witness = pick();
  if (witness == nullptr || witness->replaced || down_.empty()) return;
  auto wiped =
      down_.extract(std::next(down_.begin(), static_cast<std::ptrdiff_t>(random_.below(down_.size()))));
  if (can_get_on()) {
    start(wiped.key(), {{++last_id_}, witness->ring_bytes, "", ""});
  } else {
    down_.insert(std::move(wiped));
  }
}

// The disk of a running node is copied at one moment, and the copy started elsewhere while the old process
// can't be reached; everybody takes the new life. The old one comes back and knows nothing of it.
void AgreementWorld::copy_one() {
  Life* life = pick();
  if (!life->agreement->proposing()) life = pick();
  if (life->replaced) return;
  life->replaced = true;
  over_.insert(life->boot);
  const NodeId node = life->node;
  start(node, life->disk);
  for (auto& [by, known] : known_) take(known[node], *lives_.back());
}

// A disk is put back as it once was, after all had met what it forgets. Of the rest a majority must do
// without its votes.
void AgreementWorld::restore_one() {
  Life* life = pick();
  if (!life->replaced && random_.one_in(2)) backups_[life->node].push_back(life->disk);
  if (restored_ || down_.empty()) return;
  const auto down = std::next(down_.begin(), static_cast<std::ptrdiff_t>(random_.below(down_.size())));
  std::vector<Disk>& backups = backups_[down->first];
  if (backups.empty()) return;
  const Disk& backup = backups[random_.below(backups.size())];
  if (backup.id != down->second.id || backup.boots == down->second.boots) return;
  const Boot last = down->second.boots.back();
  const auto has_met = [&](NodeId other) {
    return other == down->first || known_[other][down->first].boot == last;
  };
  if (!std::all_of(lives_.begin(), lives_.end(), [&](const auto& other) { return has_met(other->node); }) ||
      !std::all_of(down_.begin(), down_.end(), [&](const auto& other) { return has_met(other.first); }))
    return;
  restored_ = down->first;
  if (!can_get_on() || !has_majority(ToyRing::decode(backup.ring))) {
    restored_ = {};
    return;
  }
  down->second = backup;
  ++coverage_.restored;
}

ToyRing AgreementWorld::next_ring(const Life& life) {
  ToyRing next = life.ring;
  ++next.epoch;
  next.mark = random_.next();
  std::vector<Electorate::Seat>& seats = next.seats;
  const uint64_t change = peace_ ? 0 : random_.below(6);
  if (change == 1 && seats.size() < kNodesMax) seats.push_back({{++last_id_}, {++last_id_}});
  if (change == 2 && seats.size() > 1) {
    seats.erase(seats.begin() + static_cast<std::ptrdiff_t>(random_.below(seats.size())));
  }
  if (change < 3) return next;
  for (const auto& other : lives_) {
    if (other->replaced) continue;
    for (Electorate::Seat& seat : seats) {
      if (seat.node == other->node) seat.disk = other->disk.id;
    }
  }
  return next;
}

void AgreementWorld::propose(Life& life) {
  std::string description = next_ring(life).encode();
  GossipOutbox outbox;
  const Duration patience =
      milliseconds(peace_ ? 3'600'000 : 20 + random_.below(random_.one_in(2) ? 200 : 3000));
  const Status status = life.agreement->propose(description, now_, now_ + patience, outbox);
  if (!status.ok()) return;
  life.proposed = std::move(description);
  perform(life, outbox);
}

void AgreementWorld::perform(Life& life, GossipOutbox& outbox) {
  for (MetaRecord& record : outbox.meta_records()) life.unsynced.emplace_back(std::move(record));
  for (GossipOutbox::Envelope& envelope : outbox.envelopes()) {
    Packet packet{life.node, life.boot, envelope.to, std::move(envelope.message)};
    if (envelope.after_records) {
      life.unsynced.emplace_back(std::move(packet));
    } else if (network_.size() < kPacketsMax) {
      network_.push_back(std::move(packet));
    }
  }
}

void AgreementWorld::write(Disk& disk, const MetaRecord& record) const {
  (record.key == kRingKey       ? disk.ring
   : record.key == kAcceptorKey ? disk.votes
                                : disk.older_copy) = record.value;
}

void AgreementWorld::sync(Life& life, size_t effects) {
  for (size_t i = 0; i < effects; ++i) {
    if (const auto* record = std::get_if<MetaRecord>(&life.unsynced[i])) {
      write(life.disk, *record);
    } else if (network_.size() < kPacketsMax) {
      network_.push_back(std::get<Packet>(std::move(life.unsynced[i])));
    }
  }
  life.unsynced.erase(life.unsynced.begin(), life.unsynced.begin() + static_cast<std::ptrdiff_t>(effects));
}

// To one of the processes that call themselves so.
void AgreementWorld::deliver(Packet packet) {
  std::vector<Life*> there;
  for (const auto& life : lives_) {
    if (life->node == packet.to) there.push_back(life.get());
  }
  if (there.empty()) return;
  Life& receiver = *there[random_.below(there.size())];
  for (const auto& life : lives_) {
    if (life->node != packet.from || life->boot != packet.boot || life.get() == &receiver) continue;
    // Who has something to say was welcomed before; who is spoken to greets back, sooner or later.
    greet(*life, receiver);
    if (peace_ || random_.one_in(2)) greet(receiver, *life);
  }
  receive(receiver, packet);
}

void AgreementWorld::take(Known& known, const Life& life) {
  if (known.disk != life.disk.id) {
    known.before.clear();
  } else if (known.boot) {
    known.before.insert(known.before.begin(), known.boot);
  }
  known.boot = life.boot;
  known.disk = life.disk.id;
}

// What comes before a connection's first message; a later life is sometimes not taken at once.
void AgreementWorld::greet(Life& life, Life& at) {
  if (life.node == at.node || over_.contains(life.boot) || at.replaced) return;
  Known& known = known_[at.node][life.node];
  if (life.boot > known.boot) {
    if (!peace_ && random_.one_in(2)) return;
    take(known, life);
  }
  if (life.boot != known.boot) return;
  GossipOutbox outbox;
  if (life.older_copy->on_remembered(known.before)) life.own_votes_void = life.agreement->proposing();
  life.older_copy->on_ring_of({at.node, at.disk.id}, 1, at.ring.epoch,
                              electorate_of(life.ring, life.ring_bytes));
  if (std::optional<MetaRecord> record = life.older_copy->take_record()) outbox.record(std::move(*record));
  perform(life, outbox);
}

void AgreementWorld::receive(Life& life, const Packet& packet) {
  note(life, packet);
  const NodeId from = packet.from;
  GossipOutbox outbox;
  const bool may_vote = life.older_copy->may_vote(from, electorate_of(life.ring, life.ring_bytes));
  if (const auto* prepare = std::get_if<Prepare>(&packet.message)) {
    if (may_vote) life.agreement->on(from, *prepare, outbox);
  } else if (const auto* promise = std::get_if<Promise>(&packet.message)) {
    if (!life.own_votes_void) life.agreement->on(from, *promise, now_, outbox);
  } else if (const auto* accept = std::get_if<Accept>(&packet.message)) {
    if (may_vote) life.agreement->on(from, *accept, outbox);
  } else if (const auto* accepted = std::get_if<Accepted>(&packet.message)) {
    if (!life.own_votes_void) life.agreement->on(from, *accepted, now_, outbox);
  } else if (const auto* ring = std::get_if<RingChosen>(&packet.message)) {
    // The one message here that the door alone refuses when it comes from a life that is over.
    const Boot known = from == life.node ? life.boot : known_[life.node][from].boot;
    if (packet.boot == known) adopt(life, ring->description);
  }
  perform(life, outbox);
  take_outcome(life);
}

void AgreementWorld::note(const Life& life, const Packet& packet) {
  const bool asks =
      std::holds_alternative<Prepare>(packet.message) || std::holds_alternative<Accept>(packet.message);
  const bool answers =
      std::holds_alternative<Promise>(packet.message) || std::holds_alternative<Accepted>(packet.message);
  if (asks && names(life.ring, life.node) && !has_seat(life.ring, life.node, life.disk.id))
    ++coverage_.asked_wiped;
  if (asks && life.node == restored_) {
    const bool votes = life.older_copy->may_vote(life.node, electorate_of(life.ring, life.ring_bytes));
    ++(votes ? coverage_.voted_again : coverage_.asked_restored);
  }
  if (over_.contains(packet.boot) && !life.replaced) {
    coverage_.votes_of_replaced += answers ? 1 : 0;
    coverage_.ballots_of_replaced += asks ? 1 : 0;
  }
}

void AgreementWorld::tick(Life& life) {
  GossipOutbox outbox;
  life.agreement->tick(now_, outbox);
  perform(life, outbox);
  take_outcome(life);
}

void AgreementWorld::take_outcome(Life& life) {
  const std::optional<EpochRegister::Outcome> outcome = life.agreement->take_outcome();
  if (!outcome) return;
  life.own_votes_void = false;
  if (!outcome->status.ok()) {
    const bool overtaken = life.ring.epoch >= outcome->epoch;
    ++(overtaken ? coverage_.overtaken : coverage_.timed_out);
    if (random_.one_in(3)) propose(life);
    return;
  }
  if (!life.replaced) check(outcome->epoch, outcome->chosen);
  if (outcome->chosen != life.proposed) ++coverage_.another_chosen;
  if (outcome->epoch > life.ring.epoch) adopt(life, outcome->chosen);
  for (const Electorate::Seat& seat : life.ring.seats) {
    if (random_.one_in(2)) tell(life, seat.node);
  }
}

// A life that was replaced may believe what it likes: nobody listens to it.
void AgreementWorld::adopt(Life& life, const std::string& bytes) {
  const ToyRing ring = ToyRing::decode(bytes);
  if (!life.replaced) check(ring.epoch, bytes);
  if (ring.epoch <= life.ring.epoch) return;
  if (has_seat(ring, life.node, life.disk.id) && !has_seat(life.ring, life.node, life.disk.id))
    ++coverage_.seats_given_anew;
  life.ring = ring;
  life.ring_bytes = bytes;
  life.unsynced.emplace_back(MetaRecord{std::string(kRingKey), bytes});
  life.agreement->adopt(electorate_of(ring, bytes));
  life.older_copy->on_ring(electorate_of(ring, bytes));
  if (std::optional<MetaRecord> record = life.older_copy->take_record())
    life.unsynced.emplace_back(std::move(*record));
  if (life.replaced) return;
  for (const Electorate::Seat& seat : ring.seats) {
    const bool running = std::any_of(lives_.begin(), lives_.end(),
                                     [&seat](const auto& other) { return other->node == seat.node; });
    if (running || down_.contains(seat.node)) continue;
    ++coverage_.joined;
    start(seat.node, {seat.disk, bytes, "", ""});
  }
}

void AgreementWorld::tell(const Life& from, NodeId to) {
  if (network_.size() >= kPacketsMax) return;
  network_.push_back({from.node, from.boot, to, RingChosen{1, from.ring.epoch, from.ring_bytes}});
}

void AgreementWorld::check(uint64_t epoch, const std::string& ring) {
  const auto [held, added] = chosen_.emplace(epoch, ring);
  if (added) ++coverage_.chosen;
  if (held->second != ring) violation_ = cat("two rings of epoch ", epoch);
}

ToyRing AgreementWorld::latest_ring() const { return ToyRing::decode(chosen_.rbegin()->second); }

// Of voters that have their disks and run, or could run.
bool AgreementWorld::has_majority(const ToyRing& ring) const {
  size_t intact = 0;
  for (const Electorate::Seat& seat : ring.seats) {
    if (seat.node == restored_) continue;
    const auto down = down_.find(seat.node);
    const bool runs = std::any_of(lives_.begin(), lives_.end(), [&seat](const auto& life) {
      return !life->replaced && Electorate::Seat{life->node, life->disk.id} == seat;
    });
    if (runs || (down != down_.end() && down->second.id == seat.disk)) ++intact;
  }
  return intact > ring.seats.size() / 2;
}

bool AgreementWorld::can_get_on() const {
  if (!has_majority(latest_ring())) return false;
  for (const auto& life : lives_) {
    if (!life->replaced && !(has_majority(life->ring) && has_majority(ToyRing::decode(life->disk.ring))))
      return false;
  }
  return std::all_of(down_.begin(), down_.end(),
                     [this](const auto& down) { return has_majority(ToyRing::decode(down.second.ring)); });
}

// Everybody is up, nothing is lost, two nodes want a change: it must come, and everybody must hear of it.
void AgreementWorld::make_peace() {
  peace_ = true;
  const uint64_t before = chosen_.rbegin()->first;
  coverage_.longest = std::max(coverage_.longest, before);
  if (!can_get_on()) return;
  std::erase_if(lives_, [](const auto& life) { return life->replaced; });
  while (!down_.empty()) restart_one();
  for (uint64_t round = 0; round < 2000 && violation_.empty(); ++round) {
    now_ += milliseconds(20);
    for (size_t i = 0; i < lives_.size(); ++i) {
      Life& life = *lives_[i];
      if (i < 2 && life.ring.epoch <= before && !life.agreement->proposing()) propose(life);
      if (round % 50 == 0) tell(*pick(), life.node);
      tick(life);
      sync(life, life.unsynced.size());
    }
    std::vector<Packet> arriving = std::exchange(network_, {});
    while (!arriving.empty()) {
      std::swap(arriving[random_.below(arriving.size())], arriving.back());
      deliver(std::move(arriving.back()));
      arriving.pop_back();
    }
    const bool everybody = std::all_of(lives_.begin(), lives_.end(),
                                       [before](const auto& life) { return life->ring.epoch > before; });
    if (everybody) {
      ++coverage_.got_on;
      return;
    }
  }
  if (violation_.empty()) violation_ = cat("a majority doesn't get past epoch ", before);
}

}  // namespace ringkv
