// Byte streams as TCP makes them, between machines that don't exist: ordered and whole while they last, late,
// and cut anywhere. Segments of one connection never overtake each other; those of different ones do.
//
// A process that was killed leaves its machine up, which refuses and resets in its name; behind a machine
// without power there is silence.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/transport.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

class SimulatedNetwork;

// One machine's end of the network, and the Transport of the process that runs there.
class SimulatedHost final : public Transport {
 public:
  SimulatedHost(SimulatedNetwork& network, std::string name) : network_(network), name_(std::move(name)) {}
  ~SimulatedHost() override;
  SimulatedHost(const SimulatedHost&) = delete;
  SimulatedHost& operator=(const SimulatedHost&) = delete;

  // A process runs here. `end_turn` is called after each call of `handler`; it calls flush().
  void attach(TransportHandler& handler, std::function<void()> end_turn);
  void listen(const Address& address);
  void stop_listening();

  // The process is gone: its connections are reset, or, after a power cut, left in silence.
  void detach_killed();
  void detach_without_power();

  // Output leaves: the end of a turn.
  void flush();

  const std::string& name() const { return name_; }
  size_t connections() const { return ends_.size(); }

  ConnectionId connect(const Address& to) override;
  std::string& output(ConnectionId connection) override;
  size_t unsent_bytes(ConnectionId connection) const override;
  void close(ConnectionId connection) override;

 private:
  friend class SimulatedNetwork;

  enum class State { kConnecting, kOpen, kClosed, kGone };

  // One side of a connection. Events hold it as long as bytes are under way.
  struct End {
    SimulatedHost* host = nullptr;
    ConnectionId id = 0;
    State state = State::kConnecting;
    std::shared_ptr<End> peer;  // each lets go of the other when it ends
    std::string output;
    std::string input;      // what the handler has left
    size_t in_flight = 0;   // of what this end has sent
    Time last_arrival{};    // at the peer
    bool silenced = false;  // nothing that this end sends arrives
    bool dirty = false;
    bool paused = false;  // not read from: too much unsent
  };
  using EndPointer = std::shared_ptr<End>;

  void drop_all();

  SimulatedNetwork& network_;
  const std::string name_;
  TransportHandler* handler_ = nullptr;
  std::function<void()> end_turn_;
  bool powered_ = true;
  std::vector<Address> addresses_;
  std::map<ConnectionId, EndPointer> ends_;  // usable ones
  std::vector<EndPointer> dirty_;
  std::string nowhere_;
};

class SimulatedNetwork {
 public:
  explicit SimulatedNetwork(World& world) : world_(world) {}

 private:
  friend class SimulatedHost;
  using End = SimulatedHost::End;
  using EndPointer = SimulatedHost::EndPointer;
  using State = SimulatedHost::State;
  enum class Signal { kConnected, kFinished, kReset };

  EndPointer add_end(SimulatedHost& host, State state);
  void connect(const EndPointer& from, const Address& to);
  void on_connect(const EndPointer& from, const Address& to);
  void pump(const EndPointer& from);  // hands output to the wire, as much as the window takes
  void send_bytes(const EndPointer& from, std::string bytes);
  void send_signal(const EndPointer& from, Signal signal);
  void on_bytes(const EndPointer& to, const std::string& bytes);
  void on_signal(const EndPointer& to, Signal signal);
  void deliver_input(const EndPointer& to);
  void on_output_left(const EndPointer& from);
  void end(const EndPointer& end, const std::string& why);
  void end_later(const EndPointer& end, Duration delay, const std::string& why);
  Time arrival(End& from, bool in_order);
  Duration latency();

  World& world_;
  std::map<Address, SimulatedHost*> doors_;
  std::map<Address, SimulatedHost*> machines_;  // those that ever listened
  ConnectionId last_id_ = 0;
};

}  // namespace ringkv::simulation
