#include "tools/simulation/simulated_node.h"

#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kTick = std::chrono::milliseconds(10);
constexpr Duration kStopPatience = std::chrono::seconds(20);

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

Identity drawn_identity(const std::string& name, Random& random) {
  return {.node = NodeId{random.next()},
          .disk = DiskId{random.next()},
          .cluster = ClusterId{random.next()},
          .name = name};
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
      identity_(drawn_identity(settings_.name, random_)),
      secret_(drawn_secret(random_)),
      host_(network, settings_.name),
      clock_(world.events) {
  disk_.set_blocking_share(world.faults.cache_miss, random_.next());
}

SimulatedNode::~SimulatedNode() = default;

SimulatedNode::Process::Process(SimulatedNode& machine, uint64_t process_number)
    : number(process_number),
      random(machine.random_.next()),
      log(std::make_unique<TracedLog>(machine.world_, machine.name())),
      executor(machine.world_, [&machine] { machine.end_turn(); }),
      node({.clock = machine.clock_,
            .transport = machine.host_,
            .executor = executor,
            .random = random,
            .log = *log,
            .open_engine = [&machine, this]() -> Result<OpenedEngine> {
              return OpenedEngine{
                  std::make_unique<SimulatedEngine>(
                      machine.world_,
                      SimulatedEngine::Machine{machine.name(), machine.disk_, machine.sync_fault_, executor}),
                  ""};
            }},
           machine.node_settings()) {}

SimulatedNode::Process::~Process() = default;

Node::Settings SimulatedNode::node_settings() const {
  return {
      .identity = identity_,
      .founding = {.bootstrap = true,
                   .replicas = 3,
                   .partitions = settings_.partitions,
                   .placer = PlacerKind::kBalanced,
                   .rack = "default",
                   .weight = 1,
                   .secret = secret_},
      .life = {.durability = Durability::kSynced, .cache_bytes = settings_.cache_bytes, .token = &token_of},
      .disk_reserve_bytes = 0};
}

void SimulatedNode::start() {
  CHECK(!running());
  world_.trace.add(world_.events.now(), name(), "starts");
  process_ = std::make_unique<Process>(*this, ++last_process_);
  host_.attach(process_->node.transport_handler(), [this] { end_turn(); });
  host_.listen(settings_.client_address);
  process_->node.start([this](const Status& status) {
    // A program that can't open its store ends.
    if (!status.ok()) process_->stopped = true;
  });
  world_.events.after(world_.up_to(kTick), [this, number = last_process_] { tick(number); });
}

void SimulatedNode::kill() {
  world_.trace.add(world_.events.now(), name(), "is killed");
  host_.detach_killed();
  process_.reset();
}

void SimulatedNode::cut_power() {
  world_.trace.add(world_.events.now(), name(), "loses power");
  host_.detach_without_power();
  process_.reset();
  disk_.crash(random_);
}

void SimulatedNode::stop() {
  world_.trace.add(world_.events.now(), name(), "is asked to stop");
  process_->stopping = true;
  host_.stop_listening();
  process_->node.stop(kStopPatience, [this](const Status&) { process_->stopped = true; });
}

void SimulatedNode::fail_disk(DiskCall call, uint64_t nth, DiskError error) {
  if (call == DiskCall::kSync) {
    sync_fault_ = {nth, error};
  } else {
    disk_.fail(call, nth, error);
  }
}

void SimulatedNode::end_turn() {
  process_->node.on_turn_end();
  host_.flush();
}

void SimulatedNode::tick(uint64_t process) {
  if (!running() || process_->number != process) return;
  process_->node.on_tick(world_.events.now());
  end_turn();
  if (process_->stopped) {
    world_.trace.add(world_.events.now(), name(), "ends");
    host_.detach_killed();
    process_.reset();
    return;
  }
  look_at_life();
  world_.events.after(kTick, [this, process] { tick(process); });
}

void SimulatedNode::look_at_life() {
  if (!serving()) return;
  const Life& life = *process_->node.life();
  if (life.boot() == process_->shown || !life.idle()) return;
  process_->shown = life.boot();
  if (on_life_) on_life_(life);
}

}  // namespace ringkv::simulation
