#include "tools/simulation/nemesis.h"

#include <cmath>
#include <iterator>
#include <utility>

namespace ringkv::simulation {
namespace {

constexpr Duration kDownMax = std::chrono::seconds(3);
constexpr Duration kDownShort = std::chrono::milliseconds(20);
constexpr Duration kLowSpaceMax = std::chrono::seconds(5);
constexpr Duration kClockJumpMax = std::chrono::seconds(10);
constexpr Duration kAimPauseMax = std::chrono::milliseconds(40);
constexpr uint64_t kAimOneIn = 4;
constexpr Duration kLookPause = std::chrono::milliseconds(100);
constexpr DiskCall kDiskCalls[] = {DiskCall::kWrite, DiskCall::kSync, DiskCall::kGet};
constexpr uint64_t kDiskCallsMax = 30;
constexpr uint64_t kNeverReached = uint64_t{1} << 60;
constexpr DiskSpace kNearlyFull{.free_bytes = 1 << 20, .size_bytes = uint64_t{1} << 40};

}  // namespace

Nemesis::Nemesis(World& world, std::vector<SimulatedNode*> nodes, History& history)
    : world_(world), nodes_(std::move(nodes)), history_(history) {}

void Nemesis::start() {
  const Faults& faults = world_.faults;
  for (uint32_t node = 0; node < nodes_.size(); ++node) {
    keep_up(node);
    schedule(faults.kill, node, &Nemesis::kill);
    schedule(faults.power_cut, node, &Nemesis::aim_power_cut);
    schedule(faults.stop, node, &Nemesis::stop);
    schedule(faults.disk_error, node, &Nemesis::fail_disk);
    schedule(faults.low_space, node, &Nemesis::fill_disk);
    schedule(faults.clock_jump, node, &Nemesis::jump_clock);
  }
}

void Nemesis::make_peace() {
  peace_ = true;
  for (SimulatedNode* node : nodes_) {
    node->set_space({});
    // One fault is planned for each kind of call: this one takes its place and never comes.
    for (const DiskCall call : kDiskCalls) node->fail_disk(call, kNeverReached, DiskError::kInputOutput);
  }
}

// A Poisson process: the intervals are exponential.
void Nemesis::schedule(Duration apart, uint32_t node, Strike strike) {
  if (apart == Duration::zero()) return;
  const double factor = -std::log(1 - world_.random.unit());
  world_.events.after(Duration(static_cast<int64_t>(static_cast<double>(apart.count()) * factor)),
                      [this, apart, node, strike] {
                        if (peace_) return;
                        (this->*strike)(node);
                        schedule(apart, node, strike);
                      });
}

void Nemesis::kill(uint32_t node) {
  if (nodes_[node]->running()) nodes_[node]->kill();
}

// Half of them wait for a sync that takes long: what was read meanwhile must not be lost.
void Nemesis::aim_power_cut(uint32_t node) {
  if (world_.random.one_in(2)) return cut_power(node);
  const auto look = [this, node](const auto& again) -> void {
    world_.events.after(world_.up_to(kAimPauseMax), [this, node, again] {
      if (peace_) return;
      if (nodes_[node]->syncing() && world_.random.one_in(kAimOneIn)) return cut_power(node);
      again(again);
    });
  };
  look(look);
}

void Nemesis::cut_power(uint32_t node) {
  if (!nodes_[node]->running()) return;
  nodes_[node]->cut_power();
  history_.cut_power(node);
}

void Nemesis::stop(uint32_t node) {
  if (nodes_[node]->serving()) nodes_[node]->stop();
}

void Nemesis::fail_disk(uint32_t node) {
  const DiskCall call = kDiskCalls[world_.random.below(std::size(kDiskCalls))];
  const DiskError error = world_.random.one_in(2) ? DiskError::kInputOutput : DiskError::kNoSpace;
  nodes_[node]->fail_disk(call, 1 + world_.random.below(kDiskCallsMax), error);
}

void Nemesis::fill_disk(uint32_t node) {
  nodes_[node]->set_space(kNearlyFull);
  world_.events.after(world_.up_to(kLowSpaceMax), [this, node] { nodes_[node]->set_space({}); });
}

void Nemesis::jump_clock(uint32_t node) {
  nodes_[node]->clock().jump(world_.up_to(2 * kClockJumpMax) - kClockJumpMax);
}

// Whoever runs the nodes starts one again that is down, at once or some time later.
void Nemesis::keep_up(uint32_t node) {
  Duration pause = kLookPause;
  if (!nodes_[node]->running()) {
    nodes_[node]->start();
  } else if (!peace_) {
    pause = world_.up_to(world_.random.one_in(2) ? kDownShort : kDownMax);
  }
  world_.events.after(pause, [this, node] { keep_up(node); });
}

}  // namespace ringkv::simulation
