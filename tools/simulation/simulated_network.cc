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
constexpr Duration kConnectAgainAfter = seconds(1);
constexpr Duration kSilenceMax = seconds(20);  // then the kernel gives a connection up
constexpr size_t kSegmentBytesMax = size_t{64} << 10;
constexpr size_t kWindowBytes = size_t{256} << 10;
constexpr uint64_t kSplitOneIn = 8;  // segments that arrive in two parts
constexpr Duration kDripMax = seconds(20);
constexpr Duration kDripPauseMax = milliseconds(10);
constexpr size_t kDripBytesMax = 64;
constexpr size_t kDripWindowBytes = size_t{4} << 10;

}  // namespace

// ---- one machine

SimulatedHost::SimulatedHost(SimulatedNetwork& network, std::string name)
    : network_(network), name_(std::move(name)) {}

void SimulatedHost::attach(TransportHandler& handler, std::function<void()> end_turn) {
  handler_ = &handler;
  end_turn_ = std::move(end_turn);
  powered_ = true;
}

void SimulatedHost::listen(const Address& address, Door door) {
  addresses_.push_back(address);
  network_.doors_[address] = {this, door};
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
  for (auto& [id, end] : ends_) network_.send(end, {{}, Signal::kReset});
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
  if (!end->output.empty()) network_.send(end, {std::exchange(end->output, {}), {}});
  network_.send(end, {{}, Signal::kFinished});
  end->peer.reset();
}

// ---- between machines

void SimulatedNetwork::cut(const Way& way) {
  ++conditions_[way].cuts;
  world_.trace.add(world_.events.now(), way.from, "is cut from", way.to);
}

void SimulatedNetwork::heal(const Way& way) {
  Condition& condition = conditions_.at(way);
  CHECK(condition.cuts > 0);
  if (--condition.cuts > 0) return;
  if (condition.longer == Duration::zero()) conditions_.erase(way);
  world_.trace.add(world_.events.now(), way.from, "reaches again", way.to);
  send_stalled();
}

void SimulatedNetwork::heal_all() {
  conditions_.clear();
  send_stalled();
}

void SimulatedNetwork::send_stalled() {
  for (const EndPointer& from : std::exchange(stalled_, {})) {
    if (is_cut(*from->host, *from->stalled.front().to->host)) {
      stalled_.push_back(from);
      continue;
    }
    // Sent again when the timer runs out next.
    from->last_arrival = std::max(from->last_arrival, world_.events.now() + world_.up_to(kRetransmitAfter));
    for (SimulatedHost::Stalled& stalled : std::exchange(from->stalled, {})) {
      transmit(from, stalled.to, std::move(stalled.segment));
    }
  }
}

void SimulatedNetwork::delay(const Way& way, Duration longer) {
  Condition& condition = conditions_[way];
  condition.longer = longer;
  if (condition.cuts == 0 && longer == Duration::zero()) conditions_.erase(way);
}

SimulatedNetwork::Condition SimulatedNetwork::condition(const SimulatedHost& from,
                                                        const SimulatedHost& to) const {
  if (conditions_.empty()) return {};
  const auto found = conditions_.find({from.name(), to.name()});
  return found == conditions_.end() ? Condition() : found->second;
}

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

Time SimulatedNetwork::arrival(End& from, const End& to, bool in_order) {
  const Time time = world_.events.now() + latency() + condition(*from.host, *to.host).longer;
  if (!in_order) return time;
  const Duration pause = is_dripping(from) ? world_.up_to(kDripPauseMax) : Duration::zero();
  return from.last_arrival = std::max(time, from.last_arrival + pause);
}

void SimulatedNetwork::connect(const EndPointer& from, const Address& to) {
  const Time give_up_at = world_.events.now() + kSilenceMax;
  world_.events.after(latency(), [this, from, to, give_up_at] { on_connect(from, to, give_up_at); });
}

void SimulatedNetwork::on_connect(const EndPointer& from, const Address& to, Time give_up_at) {
  if (from->state != State::kConnecting) return;
  const auto machine = machines_.find(to);
  const bool answers = machine != machines_.end() && machine->second->powered_;
  if (answers && (is_cut(*from->host, *machine->second) || is_cut(*machine->second, *from->host))) {
    if (world_.events.now() >= give_up_at) return end_later(from, Duration::zero(), "Connection timed out");
    world_.events.after(kConnectAgainAfter,
                        [this, from, to, give_up_at] { on_connect(from, to, give_up_at); });
    return;
  }
  const auto listener = doors_.find(to);
  if (listener != doors_.end()) return accept(from, listener->second);
  end_later(from, answers ? latency() : kSilenceMax, answers ? "Connection refused" : "Connection timed out");
}

// By the kernel; the process hears of it when it runs.
void SimulatedNetwork::accept(const EndPointer& from, const Listener& listener) {
  SimulatedHost& host = *listener.host;
  const EndPointer accepted = add_end(host, State::kOpen);
  accepted->peer = from;
  from->peer = accepted;
  send(accepted, {{}, Signal::kConnected});
  host.gate_.pass([this, accepted, door = listener.door, client = from->host->name()] {
    if (accepted->state != State::kOpen) return;
    SimulatedHost& host = *accepted->host;
    world_.trace.add(world_.events.now(), host.name(), "accepts", client);
    host.handler_->on_accepted(accepted->id, door, client);
    host.end_turn_();
  });
}

// None any more where faults have ended.
bool SimulatedNetwork::is_dripping(const End& from) const {
  return world_.faults.dripping > 0 && world_.events.now() < from.drips_until;
}

void SimulatedNetwork::pump(const EndPointer& from) {
  if (world_.happens(world_.faults.dripping)) {
    from->drips_until = world_.events.now() + world_.up_to(kDripMax);
    world_.sightings.saw(sighting::kDripped);
  }
  const bool drips = is_dripping(*from);
  const size_t window = drips ? kDripWindowBytes : kWindowBytes;
  while (!from->output.empty() && from->in_flight < window) {
    size_t bytes = std::min(from->output.size(), drips ? kDripBytesMax : kSegmentBytesMax);
    if (bytes > 1 && (drips || world_.random.one_in(kSplitOneIn))) bytes = 1 + world_.random.below(bytes);
    std::string segment = from->output.substr(0, bytes);
    from->output.erase(0, bytes);
    send(from, {std::move(segment), {}});
  }
}

void SimulatedNetwork::send(const EndPointer& from, Segment segment) {
  const EndPointer to = from->peer;
  if (to == nullptr) return;
  from->in_flight += segment.bytes.size();
  if (!segment.signal && world_.happens(world_.faults.silenced)) silence(from, to);
  if (from->silenced) return;
  const bool is_last = !segment.signal && world_.happens(world_.faults.half_open);
  pass_on(from, to, std::move(segment));
  if (is_last) lose(from, to);
}

void SimulatedNetwork::pass_on(const EndPointer& from, const EndPointer& to, Segment segment) {
  if (from->stalled.empty() && !is_cut(*from->host, *to->host)) return transmit(from, to, std::move(segment));
  // A reset isn't sent again; its receiver learns by keep-alive.
  if (segment.signal == Signal::kReset) return end_later(to, kSilenceMax, "Connection timed out");
  stall(from, to, std::move(segment));
}

void SimulatedNetwork::silence(const EndPointer& from, const EndPointer& to) {
  from->silenced = to->silenced = true;
  end_later(from, kSilenceMax, "Connection timed out");
  end_later(to, kSilenceMax, "Connection timed out");
}

// Its machine has lost an end: to the other one this segment was as good as any.
void SimulatedNetwork::lose(const EndPointer& lost, const EndPointer& other) {
  lost->lost = lost->silenced = true;
  end_later(lost, Duration::zero(), "Connection reset by peer");
  end_later(other, kSilenceMax, "Connection timed out");
  world_.sightings.saw(sighting::kHalfOpen);
}

void SimulatedNetwork::stall(const EndPointer& from, const EndPointer& to, Segment segment) {
  if (from->stalled.empty()) {
    const Time since = from->stalled_since = world_.events.now();
    stalled_.push_back(from);
    world_.events.after(kSilenceMax, [this, from, since] {
      if (!from->stalled.empty() && from->stalled_since == since) give_up(from);
    });
  }
  from->stalled.push_back({to, std::move(segment)});
}

void SimulatedNetwork::give_up(const EndPointer& from) {
  const EndPointer to = from->stalled.front().to;
  from->stalled.clear();
  std::erase(stalled_, from);
  end_later(from, Duration::zero(), "Connection timed out");
  end_later(to, Duration::zero(), "Connection timed out");
}

void SimulatedNetwork::transmit(const EndPointer& from, const EndPointer& to, Segment segment) {
  if (!segment.signal) return transmit_bytes(from, to, std::move(segment.bytes));
  // A reset overtakes what is under way.
  const Time time = arrival(*from, *to, segment.signal != Signal::kReset);
  world_.events.at(time, [this, to, signal = *segment.signal] {
    to->host->gate_.pass([this, to, signal] { on_signal(to, signal); });
  });
}

void SimulatedNetwork::transmit_bytes(const EndPointer& from, const EndPointer& to, std::string bytes) {
  const bool reset = world_.happens(world_.faults.reset);
  const size_t sent = bytes.size();
  if (reset) bytes.resize(bytes.size() / 2);
  const Time time = arrival(*from, *to, true);
  world_.events.at(time, [this, from, to, sent, bytes = std::move(bytes)]() mutable {
    from->in_flight -= std::min(from->in_flight, sent);
    // Nobody has this connection any more; the machine says so, if it has power.
    if ((to->state == State::kGone || to->lost) && to->host->powered_)
      end_later(from, latency(), "Connection reset by peer");
    arrive(to, std::move(bytes));
    from->host->gate_.pass([this, from] { on_output_left(from); });
  });
  if (!reset) return;
  end_at(to, time, "Connection reset by peer");
  end_later(from, latency(), "Connection reset by peer");
}

void SimulatedNetwork::end_later(const EndPointer& ended, Duration delay, const std::string& why) {
  end_at(ended, world_.events.now() + delay, why);
}

void SimulatedNetwork::end_at(const EndPointer& ended, Time time, const std::string& why) {
  world_.events.at(time,
                   [this, ended, why] { ended->host->gate_.pass([this, ended, why] { end(ended, why); }); });
}

// ---- in a process

void SimulatedNetwork::arrive(const EndPointer& to, std::string bytes) {
  if (!to->host->gate_.closed()) return on_bytes(to, bytes);
  to->host->gate_.pass([this, to, bytes = std::move(bytes)] { on_bytes(to, bytes); });
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
        send(to, {{}, Signal::kReset});
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

}  // namespace ringkv::simulation
