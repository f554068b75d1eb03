#include "tools/simulation/workload.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTimeout = seconds(5);
constexpr Duration kShortTimeoutMax = milliseconds(800);
constexpr Duration kBucketPause = milliseconds(200);
constexpr uint32_t kClientsThatRoute = 4;
constexpr uint32_t kClientsThatDoNot = 2;
constexpr uint64_t kHotKeys = 3;
constexpr uint64_t kDeleteOneIn = 4;
constexpr uint64_t kExpiresOneIn = 6;
constexpr uint64_t kTtlMsMax = 30'000;
constexpr uint64_t kPrimaryOneIn = 8;
constexpr uint64_t kBurstOneIn = 40;
constexpr uint64_t kBurstMax = 12;
constexpr double kOperationsPerEvent = 1 + (kBurstMax + 1) / 2.0 / kBurstOneIn;

// For the trace.
std::string short_form(const std::string& value) { return value.substr(0, value.find_last_of('.')); }

std::string quorum_text(std::string_view name, uint32_t quorum) {
  return quorum == 0 ? std::string() : cat(name, quorum);
}

std::string text_of(const Operation& operation) {
  const ClientRequest::Body& body = operation.request.body;
  if (const auto* get = std::get_if<ClientGet>(&body)) {
    return cat(get->values ? "get " : "exists ", get->bucket, "/", get->key, quorum_text(", r ", get->r));
  }
  if (const auto* look = std::get_if<ClientLocalGet>(&body))
    return cat("local get ", look->bucket, "/", look->key, " at ", look->node);
  if (const auto* scan = std::get_if<ClientScan>(&body)) return cat("scan ", scan->bucket);
  if (std::holds_alternative<ClientStatus>(body)) return "status";
  if (std::holds_alternative<ClientChangeBucket>(body)) return "change the ring";
  const auto& put = std::get<ClientPut>(body);
  std::string text = put.tombstone ? "delete " : "put ";
  text += cat(put.bucket, "/", put.key, " ", short_form(put.value));
  if (!put.context) text += put.read_first || put.tombstone ? ", reading first" : ", blind";
  if (put.context) text += put.context->empty() ? ", replacing nothing" : ", with a context";
  if (operation.context_source) text += cat(" of operation ", *operation.context_source);
  if (operation.first_try) text += cat(", again as operation ", *operation.first_try);
  if (put.durability == Durability::kBuffered) text += ", buffered";
  if (put.primary) text += ", primary";
  if (put.ttl_ms) text += cat(", for ", *put.ttl_ms, " ms");
  text += quorum_text(", w ", put.w);
  return text;
}

std::string text_of(const Acknowledgement& ack) {
  if (ack.kind == Acknowledgement::Kind::kHint) return cat(" hint for ", ack.hint_for);
  return ack.kind == Acknowledgement::Kind::kSynced ? " synced" : " buffered";
}

std::string text_of(const ClientReply& reply) {
  std::string text = reply.status.to_string();
  if (const auto* result = std::get_if<GetResult>(&reply.body)) {
    for (const std::string& value : result->values) text += " " + short_form(value);
    if (result->unconfirmed) text += ", unconfirmed";
  } else if (const auto* record = std::get_if<LocalRecord>(&reply.body)) {
    for (const VersionInfo& version : record->versions)
      text += cat(" ", version.tombstone ? "deleted" : short_form(version.value), " ", version.dot);
  } else if (const auto* receipt = std::get_if<PutReceipt>(&reply.body)) {
    for (const Acknowledgement& ack : receipt->acks) {
      text += cat(" ", ack.node, text_of(ack));
    }
    text += cat(", as ", receipt->operation_id, ", by ", hex(reply.boot.value));
  } else if (const auto* page = std::get_if<ScanPage>(&reply.body)) {
    for (const ScanEntry& entry : page->entries) {
      text += cat(" ", entry.key);
      for (const std::string& value : entry.values) text += cat(" ", short_form(value));
    }
  }
  return text;
}

}  // namespace

Workload::Workload(World& world, SimulatedNetwork& network, History& history, Settings settings)
    : world_(world),
      history_(history),
      settings_(std::move(settings)),
      moments_(settings_.seed),
      random_(moments_.next()) {
  std::vector<Address> all;
  for (const Node& node : settings_.nodes) {
    if (!node.is_spare) all.insert(all.end(), node.addresses.begin(), node.addresses.end());
  }
  const auto clients = [&](uint32_t count, const std::vector<Address>& nodes, bool route) {
    for (uint32_t i = 0; i < count; ++i) {
      clients_.push_back(
          std::make_unique<SimulatedClient>(world_, network,
                                            SimulatedClient::Settings{.name = cat("c", clients_.size() + 1),
                                                                      .nodes = nodes,
                                                                      .route = route,
                                                                      .seed = random_.next()}));
    }
  };
  for (const Node& node : settings_.nodes) clients(1, node.addresses, false);
  clients(kClientsThatRoute, all, true);
  clients(kClientsThatDoNot, all, false);
  seen_.resize(clients_.size());
  for (uint32_t i = 0; i < settings_.keys; ++i) keys_.push_back({"", cat("k", i)});
  for (uint32_t i = 0; i < settings_.keys; ++i) keys_.push_back({std::string(kLwwBucket), cat("k", i)});
}

std::vector<std::string> Workload::client_names() const {
  std::vector<std::string> names;
  for (const auto& client : clients_) names.push_back(client->name());
  return names;
}

// Both at once, through different nodes where there are some: they compete for one epoch.
void Workload::start() {
  BucketInfo lww;
  lww.name = kLwwBucket;
  lww.conflict = "lww";
  create_bucket(0, lww);
  BucketInfo spare;
  spare.name = kSpareBucket;
  create_bucket(static_cast<uint32_t>(settings_.nodes.size() - 1), spare);
  if (!settings_.user_bucket) return;
  BucketInfo user;
  user.name = kUserBucket;
  create_bucket(0, user);
}

void Workload::create_bucket(uint32_t client, const BucketInfo& bucket) {
  clients_[client]->submit({ClientCreateBucket{bucket}, kTimeout}, [=, this](const ClientReply& reply) {
    // It may be there since a try whose answer was lost.
    if (reply.status.ok() || reply.status.code() == StatusCode::kInvalidArgument) {
      if (++buckets_made_; ready()) schedule_next();
      return;
    }
    world_.events.after(kBucketPause, [=, this] { create_bucket((client + 1) % clients_.size(), bucket); });
  });
  clients_[client]->end_turn();
}

void Workload::schedule_next() {
  const double events_per_second = settings_.operations_per_second / kOperationsPerEvent;
  const double seconds_apart = -std::log(1 - moments_.unit()) / events_per_second;
  world_.events.after(Duration(static_cast<int64_t>(seconds_apart * 1e6)), [this] {
    if (quiet_) return;
    const uint64_t operations = moments_.one_in(kBurstOneIn) ? 1 + moments_.below(kBurstMax) : 1;
    for (uint64_t i = 0; i < operations; ++i) act();
    schedule_next();
  });
}

void Workload::act() {
  const uint64_t number = ++last_number_;
  if (settings_.only && !settings_.only->contains(number)) return;
  asked_.push_back({std::to_string(number), world_.events.now() - EventQueue().now(), {}});
  random_ = SeededRandom(hash_bytes(settings_.seed, asked_.back().name));
  act_now();
}

void Workload::act_now() {
  const uint32_t client = any_client();
  const uint64_t roll = random_.below(1000);
  if (roll < 530) {
    put(client);
  } else if (roll < 590) {
    repeat(client);
  } else if (roll < 840) {
    get(client, any_key(), true);
  } else if (roll < 900) {
    get(client, any_key(), false);
  } else if (roll < 970) {
    local_get(client, any_node(), any_key());
  } else if (roll < 998) {
    scan(client);
  } else {
    change_ring(client);
  }
  clients_[client]->end_turn();
}

// Those that know the ring do half of the work.
uint32_t Workload::any_client() {
  const auto nodes = static_cast<uint32_t>(settings_.nodes.size());
  if (random_.one_in(2)) return nodes + static_cast<uint32_t>(random_.below(kClientsThatRoute));
  const auto client = static_cast<uint32_t>(random_.below(clients_.size()));
  return client >= nodes || settings_.is_member(client) ? client : nodes;
}

const std::string& Workload::any_node() {
  return settings_.nodes[random_.below(settings_.nodes.size())].name;
}

// The default mostly; one owner, whose answers may be stale; all.
uint32_t Workload::any_quorum() {
  const uint64_t roll = random_.below(20);
  return roll < 16 ? 0 : (roll < 18 ? 1 : settings_.copies);
}

const Workload::Key& Workload::any_key() {
  return keys_[random_.one_in(2) ? random_.below(kHotKeys) : random_.below(keys_.size())];
}

std::string Workload::new_value() {
  std::string value = cat("v", ++values_, ".");
  const uint64_t roll = random_.below(100);
  value.append(roll < 90 ? random_.below(60) : random_.below(roll < 99 ? 4000 : 100'000), 'x');
  return value;
}

Duration Workload::any_timeout() {
  if (!random_.one_in(5)) return kTimeout;
  return Duration(1 + random_.below(static_cast<uint64_t>(kShortTimeoutMax.count())));
}

// Puts and deletes: blind, with the context of the last answer, with one that covers nothing, or with what a
// read before it finds.
void Workload::put(uint32_t client) {
  const Key& key = any_key();
  ClientPut put;
  put.bucket = key.bucket;
  put.key = key.name;
  put.tombstone = random_.one_in(kDeleteOneIn);
  if (!put.tombstone) put.value = new_value();
  if (!put.tombstone && random_.one_in(kExpiresOneIn)) put.ttl_ms = 1000 + random_.below(kTtlMsMax);
  if (random_.one_in(4)) put.durability = Durability::kBuffered;
  put.primary = random_.one_in(kPrimaryOneIn);
  put.w = any_quorum();

  Operation operation;
  const uint64_t roll = random_.below(10);
  const auto seen = seen_[client].find({key.bucket, key.name});
  if (roll < 5 && seen != seen_[client].end()) {
    put.context = seen->second.context;
    operation.context_source = seen->second.source;
  } else if (roll == 9) {
    put.context = "";
  } else if (roll == 8) {
    put.read_first = true;
  }
  operation.request = {std::move(put), any_timeout()};
  submit(client, std::move(operation));
}

// An earlier write by its operation id, whatever its outcome was; sometimes twice at once.
void Workload::repeat(uint32_t client) {
  if (writes_.empty()) return get(client, any_key(), true);
  const size_t recent = std::min<size_t>(writes_.size(), random_.one_in(4) ? 200 : 8);
  const OperationIndex chosen = writes_[writes_.size() - 1 - random_.below(recent)];
  const Operation& earlier = history_.operations()[chosen];
  Operation operation;
  operation.request = earlier.request;
  operation.request.timeout = kTimeout;
  operation.context_source = earlier.context_source;
  operation.first_try = earlier.first_try.value_or(chosen);
  const OperationName name = *operation_named_in(earlier.reply);
  auto& put = std::get<ClientPut>(operation.request.body);
  put.operation = name.operation;
  put.first_tried = name.boot;
  if (random_.one_in(3)) submit(client, operation);
  submit(client, std::move(operation));
}

void Workload::get(uint32_t client, const Key& key, bool values) {
  Operation operation;
  operation.request = {ClientGet{key.bucket, key.name, any_quorum(), values}, any_timeout()};
  submit(client, std::move(operation));
}

void Workload::local_get(uint32_t client, const std::string& node, const Key& key) {
  Operation operation;
  operation.request = {ClientLocalGet{node, key.bucket, key.name}, any_timeout()};
  submit(client, std::move(operation));
}

// One page that holds everything.
void Workload::scan(uint32_t client) {
  ClientScan scan;
  scan.bucket = random_.one_in(2) ? std::string() : std::string(kLwwBucket);
  scan.values = true;
  Operation operation;
  operation.request = {scan, kTimeout};
  submit(client, std::move(operation));
}

// Now and then two at once, through different nodes: they compete for one epoch.
void Workload::change_ring(uint32_t client) {
  if (random_.one_in(2)) submit_ring_change(any_client());
  submit_ring_change(client);
}

void Workload::submit_ring_change(uint32_t client) {
  ClientChangeBucket change;
  change.name = kSpareBucket;
  change.change.ttl_ms = ++ring_changes_;  // names it
  Operation operation;
  operation.request = {change, kTimeout};
  submit(client, std::move(operation));
  clients_[client]->end_turn();
}

void Workload::read_everything(const std::set<std::string>& absent) {
  std::vector<uint32_t> nodes;
  for (uint32_t node = 0; node < settings_.nodes.size(); ++node) {
    if (!absent.contains(settings_.nodes[node].name)) nodes.push_back(node);
  }
  read_through(nodes);
}

void Workload::read_through(const std::vector<uint32_t>& nodes) {
  for (const uint32_t node : nodes) {
    for (const Key& key : keys_) {
      Operation read;
      read.request = {ClientGet{key.bucket, key.name, 0, true}, kTimeout};
      submit(node, std::move(read));
      Operation look;
      look.request = {ClientLocalGet{settings_.nodes[node].name, key.bucket, key.name}, kTimeout};
      submit(node, std::move(look));
    }
    Operation status;
    status.request = {ClientStatus(), kTimeout};
    submit(node, std::move(status));
    clients_[node]->end_turn();
  }
}

void Workload::write_everything(const std::vector<uint32_t>& nodes) {
  for (const uint32_t node : nodes) {
    for (const Key& key : keys_) {
      ClientPut put;
      put.bucket = key.bucket;
      put.key = key.name;
      put.value = new_value();
      Operation operation;
      operation.request = {std::move(put), kTimeout};
      submit(node, std::move(operation));
    }
    clients_[node]->end_turn();
  }
}

std::vector<std::pair<std::string, std::string>> Workload::keys() const {
  std::vector<std::pair<std::string, std::string>> keys;
  for (const Key& key : keys_) keys.emplace_back(key.bucket, key.name);
  return keys;
}

void Workload::submit(uint32_t client, Operation operation) {
  operation.client = client;
  ClientRequest request = operation.request;
  const OperationIndex index = history_.invoke(std::move(operation), world_.events.now());
  ++under_way_;
  if (settings_.only && !quiet_)
    asked_.back().what += cat(clients_[client]->name(), ": ", text_of(history_.operations()[index]), "; ");
  if (world_.trace.has_text())
    remark(client, cat("operation ", index, " is ", text_of(history_.operations()[index])));
  clients_[client]->submit(std::move(request), [this, client, index](ClientReply reply) {
    on_reply(client, index, std::move(reply));
  });
}

void Workload::on_reply(uint32_t client, OperationIndex index, ClientReply reply) {
  --under_way_;
  const bool named = operation_named_in(reply).has_value();
  if (world_.trace.has_text()) remark(client, cat("operation ", index, ": ", text_of(reply)));
  history_.complete(index, std::move(reply), world_.events.now());
  if (named) writes_.push_back(index);
  note_sightings(history_.operations()[index]);
  learn_context(client, index);
}

void Workload::note_sightings(const Operation& operation) {
  const ClientReply& reply = operation.reply;
  Sightings& sightings = world_.sightings;
  if (reply.status.code() == StatusCode::kUnknownOutcome) sightings.saw(sighting::kOutcomeUnknown);
  if (operation.first_try && reply.status.ok()) {
    const Status& before = history_.operations()[*operation.first_try].reply.status;
    if (before.code() == StatusCode::kUnknownOutcome) sightings.saw(sighting::kOutcomeLearnt);
  }
  if (const auto* result = std::get_if<GetResult>(&reply.body)) {
    if (result->unconfirmed) sightings.saw(sighting::kReadingUnconfirmed);
    if (result->values.size() > 1) sightings.saw(sighting::kSiblings);
  }
  if (const auto* receipt = std::get_if<PutReceipt>(&reply.body);
      receipt != nullptr && !receipt->acks.empty()) {
    const auto owners = std::count_if(receipt->acks.begin(), receipt->acks.end(), [](const auto& ack) {
      return ack.kind != Acknowledgement::Kind::kHint;
    });
    const uint32_t w = std::get<ClientPut>(operation.request.body).w;
    const uint32_t asked_for = w == 0 ? settings_.copies / 2 + 1 : w;
    if (owners < asked_for) sightings.saw(sighting::kSloppy);
  }
  const bool changes_ring = std::holds_alternative<ClientChangeBucket>(operation.request.body);
  if (changes_ring && reply.status.ok() && under_way_ > 0) sightings.saw(sighting::kRingChangedUnderLoad);
}

void Workload::remark(uint32_t client, const std::string& message) const {
  world_.trace.remark(world_.events.now(), clients_[client]->name(), "workload", message);
}

void Workload::learn_context(uint32_t client, OperationIndex index) {
  const Operation& operation = history_.operations()[index];
  const auto* get = std::get_if<ClientGet>(&operation.request.body);
  const auto* put = std::get_if<ClientPut>(&operation.request.body);
  const auto* result = std::get_if<GetResult>(&operation.reply.body);
  const auto* receipt = std::get_if<PutReceipt>(&operation.reply.body);
  if (get != nullptr && result != nullptr) {
    seen_[client][{get->bucket, get->key}] = {result->context.bytes(), index};
  } else if (put != nullptr && receipt != nullptr) {
    seen_[client][{put->bucket, put->key}] = {receipt->context.bytes(), index};
  }
}

}  // namespace ringkv::simulation
