#include "tools/simulation/simulated_node.h"

#include <iterator>
#include <utility>

#include "base/text.h"

namespace ringkv::simulation {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(10);
constexpr Duration kStopPatience = std::chrono::seconds(20);
constexpr Duration kAnsweredWithin = std::chrono::seconds(5);
constexpr uint32_t kReplicas = 3;
constexpr uint64_t kDamagedAtMostOneIn = 2;
constexpr uint32_t kPeerPort = 7400;
constexpr uint32_t kClientPorts[] = {7401, 7411};

class TracedLog final : public Log {
 public:
  TracedLog(World& world, const std::string& node) : world_(world), node_(node) {}
  bool wants(LogLevel) const override { return world_.trace.has_text(); }
  void write(LogLevel, std::string_view room, std::string_view message) override {
    world_.trace.remark(world_.events.now(), node_, room, message);
  }

 private:
  World& world_;
  const std::string& node_;
};

Identity drawn_identity(const SimulatedNode::Settings& settings, bool founds, Random& random) {
  Identity identity{.node = NodeId{random.next()}, .disk = DiskId{random.next()}, .name = settings.name};
  if (founds) identity.cluster = ClusterId{random.next()};
  return identity;
}

// Eight bytes that sort as the number does: a place among the keys of the ring.
std::string first_bytes(uint64_t number) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(number >> shift & 0xff);
  return bytes;
}

std::string drawn_secret(Random& random) {
  std::string secret;
  while (secret.size() < 32) secret += static_cast<char>(random.below(256));
  return secret;
}

}  // namespace

SimulatedNode::SimulatedNode(World& world, SimulatedNetwork& network, Settings settings)
    : world_(world),
      settings_(std::move(settings)),
      random_(settings_.seed),
      identity_(drawn_identity(settings_, settings_.bootstrap, random_)),
      secret_(drawn_secret(random_)),
      host_(network, settings_.name),
      clock_(world),
      left_(settings_.spare),
      founds_(settings_.bootstrap),
      doors_{.machine = settings_.name} {
  nodes_.push_back(identity_.node);
  use(std::make_unique<MemoryDisk>());
}

SimulatedNode::~SimulatedNode() = default;

SimulatedNode::Process::Process(SimulatedNode& machine, uint64_t process_number)
    : number(process_number),
      random(machine.random_.next()),
      log(std::make_unique<TracedLog>(machine.world_, machine.name())),
      executor(machine.world_, machine.host_.gate(), machine.slow_until_, [&machine] { machine.end_turn(); }),
      node({.clock = machine.clock_,
            .transport = machine.host_,
            .executor = executor,
            .random = random,
            .log = *log,
            .open_engine = [&machine, this](OpenMode mode) { return machine.open_engine(mode, executor); }},
           machine.node_settings()) {}

SimulatedNode::Process::~Process() = default;

Node::Settings SimulatedNode::node_settings() {
  const std::optional<Member> known = settings_.known(settings_.name);
  Node::Settings settings;
  settings.identity = identity_;
  settings.founding = {.bootstrap = founds_,
                       .replicas = kReplicas,
                       .partitions = settings_.partitions,
                       .placer = PlacerKind::kBalanced,
                       .rack = known ? known->rack : settings_.rack,
                       .weight = known ? known->weight : 1,
                       .secret = secret_};
  settings.life = {.durability = Durability::kSynced,
                   .cache_bytes = settings_.cache_bytes,
                   .round_interval = settings_.round_interval,
                   .hint_budget_bytes = settings_.hint_budget_bytes,
                   .scrub_interval = settings_.scrub_interval,
                   .token = &token_of};
  settings.join = settings_.others();
  settings.plan_only = plan_only_;
  settings.peer_address = peer_address();
  settings.client_address = client_address();
  settings.life.drop_grace = settings_.drop_grace;
  settings.keep_identity = [this](const Identity& identity) {
    identity_ = identity;
    nodes_.push_back(identity.node);
    return Status();
  };
  settings.on_left = [this](const Status&) {
    left_ = true;
    process_->stopped = true;
  };
  return settings;
}

Address SimulatedNode::peer_address() const {
  return cat(doors_.machine, ":", kPeerPort + 100 * doors_.moves);
}

Address SimulatedNode::client_address() const {
  return cat(doors_.machine, ":", kClientPorts[doors_.moves % std::size(kClientPorts)]);
}

std::vector<Address> SimulatedNode::client_addresses() const {
  std::vector<Address> addresses;
  for (const uint32_t port : kClientPorts) addresses.push_back(cat(name(), ":", port));
  return addresses;
}

void SimulatedNode::start() {
  CHECK(!running());
  world_.trace.add(world_.events.now(), name(), "starts", peer_address());
  process_ = std::make_unique<Process>(*this, ++last_process_);
  host_.attach(process_->node.transport_handler(), [this] { end_turn(); });
  host_.listen(peer_address(), Door::kPeer);
  host_.listen(client_address(), Door::kClient);
  process_->node.start([this](const Status& status) {
    if (status.ok()) return;
    // A program that can't open its store, or joins nobody, ends.
    process_->log->error("node", status.to_string());
    refused_ = status.code() == StatusCode::kForbidden;
    process_->stopped = true;
  });
  world_.events.after(world_.up_to(kTick), [this, number = last_process_] { tick(number); });
}

void SimulatedNode::end_process() {
  process_.reset();
  host_.gate().open();
}

void SimulatedNode::kill() {
  world_.trace.add(world_.events.now(), name(), "is killed");
  count_figures();
  host_.detach_killed();
  end_process();
}

void SimulatedNode::cut_power() {
  world_.trace.add(world_.events.now(), name(), "loses power");
  count_figures();
  host_.detach_without_power();
  end_process();
  disk_->crash(random_, world_.happens(world_.faults.torn));
}

void SimulatedNode::stop() {
  world_.trace.add(world_.events.now(), name(), "is asked to stop");
  count_figures();
  process_->stopping = true;
  host_.stop_listening();
  process_->node.stop(kStopPatience, [this](const Status&) { process_->stopped = true; });
}

void SimulatedNode::freeze(Duration duration) {
  if (!running() || frozen()) return;
  world_.trace.add(world_.events.now(), name(), "stands still");
  host_.gate().close();
  world_.events.after(duration, [this, number = last_process_] {
    if (!running() || process_->number != number) return;
    world_.trace.add(world_.events.now(), name(), "goes on");
    host_.gate().open();
  });
}

void SimulatedNode::move() { ++doors_.moves; }

void SimulatedNode::swap_doors(SimulatedNode& other) {
  CHECK(!running() && !other.running());
  world_.trace.add(world_.events.now(), name(), "swaps its addresses with", other.name());
  std::swap(doors_, other.doors_);
}

void SimulatedNode::use(std::unique_ptr<MemoryDisk> disk) {
  disk_ = std::move(disk);
  disk_->set_blocking_share(world_.faults.cache_miss, random_.next());
}

void SimulatedNode::wipe() {
  CHECK(!running());
  world_.trace.add(world_.events.now(), name(), "loses its disk");
  member_ = node();
  founds_ = false;
  identity_ = drawn_identity(settings_, false, random_);
  use(std::make_unique<MemoryDisk>());
}

void SimulatedNode::begin_anew(bool plan_only) {
  CHECK(!running());
  world_.trace.add(world_.events.now(), name(),
                   plan_only ? "begins anew and waits for a plan" : "begins anew");
  plan_only_ = plan_only;
  left_ = refused_ = false;
  ++times_left_;
  member_ = NodeId();
  founds_ = false;
  identity_ = drawn_identity(settings_, false, random_);
  nodes_.push_back(identity_.node);
  use(std::make_unique<MemoryDisk>());
}

void SimulatedNode::put_back(const DiskCopy& copy) {
  CHECK(!running() && has_copied(copy));
  world_.trace.add(world_.events.now(), name(), "is put back to a copy of its disk");
  use(copy.disk->copy());
}

Result<OpenedEngine> SimulatedNode::open_engine(OpenMode mode, SimulatedExecutor& executor) {
  Result<OpenedEngine> opened = open_memory(*disk_, mode);
  if (!opened.ok()) return opened;
  if (!opened->lost.empty()) world_.sightings.saw(sighting::kDamageSetAside);
  if (!opened->log_damage.empty()) world_.sightings.saw(sighting::kTornLog);
  SimulatedEngine::Machine machine{
      name(), *disk_, sync_fault_, executor,
      [this](std::string_view key, std::string_view before) { tell_erased(key, before); }};
  opened->engine = std::make_unique<SimulatedEngine>(world_, std::move(machine), std::move(opened->engine));
  return opened;
}

// The first and the last of the keys that a table file may hold.
std::pair<std::string, std::string> SimulatedNode::drawn_file(Family family) {
  const uint64_t first = family == Family::kData ? random_.next() : 0;
  const uint64_t most = ~uint64_t{0} - first;
  const uint64_t length = family == Family::kData ? random_.next() / kDamagedAtMostOneIn : most;
  return {first_bytes(first), first_bytes(first + std::min(length, most))};
}

void SimulatedNode::damage(Family family) {
  world_.trace.add(world_.events.now(), name(), "has a damaged file");
  auto [first, last] = drawn_file(family);
  disk_->damage(family, std::move(first), std::move(last));
}

void SimulatedNode::flip_bit(Family family) {
  world_.trace.add(world_.events.now(), name(), "has a flipped bit in a file");
  auto [first, last] = drawn_file(family);
  if (disk_->damage_block(family, std::move(first), std::move(last), first_bytes(random_.next())))
    world_.sightings.saw(sighting::kFlipped);
}

void SimulatedNode::tell_erased(std::string_view key, std::string_view before) {
  if (on_erase_ && life() != nullptr) on_erase_(*life(), key, before);
}

Statistics SimulatedNode::figures() const {
  Statistics figures;
  if (!serving() || frozen()) return figures;
  process_->node.call({ClientStatistics(), kTick}, [&figures](const ClientReply& reply) {
    if (const auto* found = std::get_if<Statistics>(&reply.body)) figures = *found;
  });
  return figures;
}

void SimulatedNode::accept_loss() {
  world_.trace.add(world_.events.now(), name(), "accepts its loss");
  process_->node.call({ClientRepair{.accept_loss = true}, kTick}, [](const ClientReply&) {});
}

void SimulatedNode::ask(const ClientRequest::Body& body, std::string_view what,
                        std::function<void(const Status&)> done) {
  world_.trace.add(world_.events.now(), name(), what);
  process_->node.call({body, kAnsweredWithin},
                      [this, number = last_process_, done = std::move(done)](const ClientReply& reply) {
                        if (!running() || process_->number != number) return;
                        process_->log->info("operator", reply.status.to_string());
                        if (done) done(reply.status);
                      });
}

void SimulatedNode::count_figures() { settings_.on_figures(figures()); }

void SimulatedNode::fail_disk(DiskCall call, uint64_t nth, DiskError error) {
  if (call == DiskCall::kSync) {
    sync_fault_ = {nth, error};
  } else {
    disk_->fail(call, nth, error);
  }
}

void SimulatedNode::end_turn() {
  process_->node.on_turn_end();
  host_.flush();
}

void SimulatedNode::tick(uint64_t number) {
  if (!running() || process_->number != number) return;
  if (frozen()) return host_.gate().pass([this, number] { tick(number); });
  process_->node.on_tick(world_.events.now());
  end_turn();
  if (process_->stopped) {
    world_.trace.add(world_.events.now(), name(), "ends");
    host_.detach_killed();
    end_process();
    return;
  }
  look_at_life();
  world_.events.after(kTick, [this, number] { tick(number); });
}

void SimulatedNode::look_at_life() {
  if (!serving()) return;
  const Life& life = *process_->node.life();
  if (life.boot() == process_->shown || !life.idle()) return;
  process_->shown = life.boot();
  ++lives_;
  if (on_life_) on_life_(life);
}

std::optional<ClusterWatch::Sight> SimulatedNode::sight() const {
  if (!serving()) return std::nullopt;
  const Life& life = *process_->node.life();
  return ClusterWatch::Sight{.machine = name(),
                             .node = identity_.node,
                             .boot = life.boot(),
                             .generation = process_->node.member()->states().own().generation,
                             .epoch_told = process_->node.member()->states().own().epoch,
                             .ring = &life.ring()};
}

}  // namespace ringkv::simulation
