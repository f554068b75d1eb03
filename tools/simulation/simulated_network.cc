#include "tools/simulation/simulated_network.h"

#include <algorithm>
#include <utility>

namespace ringkv::simulation {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLatencyMin = microseconds(80);
constexpr Duration kJitterMax = microseconds(400);
constexpr Duration kReorderMax = milliseconds(5);
constexpr Duration kDelayMax = milliseconds(500);
constexpr Duration kRetransmitAfter = milliseconds(200);
constexpr Duration kSilenceMax = seconds(20);  // then the kernel gives a connection up
constexpr size_t kSegmentBytesMax = size_t{64} << 10;
constexpr size_t kWindowBytes = size_t{256} << 10;
constexpr uint64_t kSplitOneIn = 8;  // segments that arrive in two parts

}  // namespace

// ---- one machine

void SimulatedHost::attach(TransportHandler& handler, std::function<void()> end_turn) {
  handler_ = &handler;
  end_turn_ = std::move(end_turn);
  powered_ = true;
}

void SimulatedHost::listen(const Address& address) {
  addresses_.push_back(address);
  network_.doors_[address] = this;
  network_.machines_[address] = this;
}

void SimulatedHost::stop_listening() {
  for (const Address& address : addresses_) network_.doors_.erase(address);
  addresses_.clear();
}

SimulatedHost::~SimulatedHost() {
  for (auto& [id, end] : ends_) end->peer.reset();
}

void SimulatedHost::drop_all() {
  stop_listening();
  handler_ = nullptr;
  end_turn_ = nullptr;
  for (auto& [id, end] : ends_) {
    if (std::exchange(end->state, State::kGone) == State::kOpen) end->peer.reset();
  }
  ends_.clear();
  dirty_.clear();
}

void SimulatedHost::detach_killed() {
  for (auto& [id, end] : ends_) network_.send_signal(end, SimulatedNetwork::Signal::kReset);
  drop_all();
}

void SimulatedHost::detach_without_power() {
  for (auto& [id, end] : ends_) {
    if (end->peer != nullptr) network_.end_later(end->peer, kSilenceMax, "Connection timed out");
  }
  drop_all();
  powered_ = false;
}

void SimulatedHost::flush() {
  const std::vector<EndPointer> dirty = std::exchange(dirty_, {});
  for (const EndPointer& end : dirty) {
    end->dirty = false;
    if (end->state == State::kOpen) network_.pump(end);
  }
}

ConnectionId SimulatedHost::connect(const Address& to) {
  const EndPointer end = network_.add_end(*this, State::kConnecting);
  network_.connect(end, to);
  return end->id;
}

std::string& SimulatedHost::output(ConnectionId connection) {
  const auto found = ends_.find(connection);
  if (found == ends_.end()) {
    nowhere_.clear();
    return nowhere_;
  }
  End& end = *found->second;
  if (!std::exchange(end.dirty, true)) dirty_.push_back(found->second);
  return end.output;
}

size_t SimulatedHost::unsent_bytes(ConnectionId connection) const {
  const auto found = ends_.find(connection);
  return found == ends_.end() ? 0 : found->second->output.size();
}

void SimulatedHost::close(ConnectionId connection) {
  const auto found = ends_.find(connection);
  if (found == ends_.end()) return;
  const EndPointer end = found->second;
  ends_.erase(found);
  if (std::exchange(end->state, State::kClosed) != State::kOpen) return;
  if (!end->output.empty()) network_.send_bytes(end, std::exchange(end->output, {}));
  network_.send_signal(end, SimulatedNetwork::Signal::kFinished);
  end->peer.reset();
}

// ---- between machines

SimulatedNetwork::EndPointer SimulatedNetwork::add_end(SimulatedHost& host, State state) {
  auto end = std::make_shared<End>();
  end->host = &host;
  end->id = ++last_id_;
  end->state = state;
  host.ends_.emplace(end->id, end);
  return end;
}

Duration SimulatedNetwork::latency() {
  Duration latency = kLatencyMin + world_.up_to(kJitterMax);
  if (world_.happens(world_.faults.reordered)) latency += world_.up_to(kReorderMax);
  if (world_.happens(world_.faults.delayed)) latency += world_.up_to(kDelayMax);
  for (Duration pause = kRetransmitAfter; world_.happens(world_.faults.lost); pause *= 2) latency += pause;
  return latency;
}

Time SimulatedNetwork::arrival(End& from, bool in_order) {
  const Time time = world_.events.now() + latency();
  if (!in_order) return time;
  return from.last_arrival = std::max(time, from.last_arrival);
}

void SimulatedNetwork::connect(const EndPointer& from, const Address& to) {
  world_.events.after(latency(), [this, from, to] { on_connect(from, to); });
}

void SimulatedNetwork::on_connect(const EndPointer& from, const Address& to) {
  if (from->state != State::kConnecting) return;
  const auto door = doors_.find(to);
  if (door != doors_.end()) {
    SimulatedHost& host = *door->second;
    const EndPointer accepted = add_end(host, State::kOpen);
    accepted->peer = from;
    from->peer = accepted;
    send_signal(accepted, Signal::kConnected);
    world_.trace.add(world_.events.now(), host.name(), "accepts", from->host->name());
    host.handler_->on_accepted(accepted->id, Door::kClient, from->host->name());
    host.end_turn_();
    return;
  }
  const auto machine = machines_.find(to);
  const bool answers = machine != machines_.end() && machine->second->powered_;
  end_later(from, answers ? latency() : kSilenceMax, answers ? "Connection refused" : "Connection timed out");
}

void SimulatedNetwork::pump(const EndPointer& from) {
  while (!from->output.empty() && from->in_flight < kWindowBytes) {
    size_t bytes = std::min(from->output.size(), kSegmentBytesMax);
    if (bytes > 1 && world_.random.one_in(kSplitOneIn)) bytes = 1 + world_.random.below(bytes);
    std::string segment = from->output.substr(0, bytes);
    from->output.erase(0, bytes);
    send_bytes(from, std::move(segment));
  }
}

void SimulatedNetwork::send_bytes(const EndPointer& from, std::string bytes) {
  const EndPointer to = from->peer;
  if (to == nullptr) return;
  if (world_.happens(world_.faults.silenced)) {
    from->silenced = to->silenced = true;
    end_later(from, kSilenceMax, "Connection timed out");
    end_later(to, kSilenceMax, "Connection timed out");
  }
  from->in_flight += bytes.size();
  if (from->silenced) return;
  const bool reset = world_.happens(world_.faults.reset);
  if (reset) bytes.resize(bytes.size() / 2);
  const Time time = arrival(*from, true);
  world_.events.at(time, [this, from, to, bytes = std::move(bytes)] {
    from->in_flight -= std::min(from->in_flight, bytes.size());
    // The process that had this connection is gone; its machine says so, if it has power.
    if (to->state == State::kGone && to->host->powered_)
      end_later(from, latency(), "Connection reset by peer");
    on_bytes(to, bytes);
    on_output_left(from);
  });
  if (!reset) return;
  world_.events.at(time, [this, to] { end(to, "Connection reset by peer"); });
  end_later(from, latency(), "Connection reset by peer");
}

void SimulatedNetwork::send_signal(const EndPointer& from, Signal signal) {
  const EndPointer to = from->peer;
  if (to == nullptr || from->silenced) return;
  // A reset overtakes what is under way.
  world_.events.at(arrival(*from, signal != Signal::kReset), [this, to, signal] { on_signal(to, signal); });
}

void SimulatedNetwork::on_bytes(const EndPointer& to, const std::string& bytes) {
  if (to->state != State::kOpen) return;
  world_.trace.add(world_.events.now(), to->host->name(), "receives", bytes);
  to->input += bytes;
  if (to->output.size() > kUnsentBytesMax) to->paused = true;
  if (!to->paused) deliver_input(to);
}

void SimulatedNetwork::on_signal(const EndPointer& to, Signal signal) {
  switch (signal) {
    case Signal::kConnected:
      if (to->state != State::kConnecting) {  // it was given up meanwhile
        send_signal(to, Signal::kReset);
        to->peer.reset();
        return;
      }
      to->state = State::kOpen;
      world_.trace.add(world_.events.now(), to->host->name(), "is connected");
      to->host->handler_->on_connected(to->id);
      to->host->end_turn_();
      return;
    case Signal::kFinished:
      return end(to, "the other side closed the connection");
    case Signal::kReset:
      return end(to, "Connection reset by peer");
  }
}

void SimulatedNetwork::deliver_input(const EndPointer& to) {
  SimulatedHost& host = *to->host;
  const size_t used = host.handler_->on_bytes(to->id, to->input);
  CHECK(used <= to->input.size());
  to->input.erase(0, used);
  host.end_turn_();
}

void SimulatedNetwork::on_output_left(const EndPointer& from) {
  if (from->state != State::kOpen) return;
  pump(from);
  if (from->output.size() >= kUnsentBytesMax / 2) return;
  from->paused = false;
  if (!from->input.empty()) deliver_input(from);
}

void SimulatedNetwork::end(const EndPointer& end, const std::string& why) {
  if (end->state != State::kOpen && end->state != State::kConnecting) return;
  end->state = State::kClosed;
  end->peer.reset();
  SimulatedHost& host = *end->host;
  host.ends_.erase(end->id);
  world_.trace.add(world_.events.now(), host.name(), "loses a connection", why);
  host.handler_->on_closed(end->id, unavailable(why));
  host.end_turn_();
}

void SimulatedNetwork::end_later(const EndPointer& ended, Duration delay, const std::string& why) {
  world_.events.after(delay, [this, ended, why] { end(ended, why); });
}

}  // namespace ringkv::simulation
