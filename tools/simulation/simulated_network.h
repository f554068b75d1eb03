// Byte streams as TCP makes them, between machines that don't exist: ordered and whole while they last, late,
// and cut anywhere. Segments of one connection never overtake each other; those of different ones do.
//
// A process that was killed leaves its machine up, which refuses and resets in its name; behind a machine
// without power there is silence. So there is across a cut: nothing arrives, and nobody is told; what was
// sent arrives once the cut has healed, unless the kernel has given the connection up by then.
//
// A connection may be half open: one end is lost, and the other isn't told until it sends something, or the
// kernel's keep-alive asks. And it may drip: a few bytes, and again a few.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/transport.h"
#include "tools/simulation/gate.h"
#include "tools/simulation/world.h"

namespace ringkv::simulation {

class SimulatedNetwork;

// One machine's end of the network, and the Transport of the process that runs there.
class SimulatedHost final : public Transport {
 public:
  SimulatedHost(SimulatedNetwork& network, std::string name);
  ~SimulatedHost() override;
  SimulatedHost(const SimulatedHost&) = delete;
  SimulatedHost& operator=(const SimulatedHost&) = delete;

  // A process runs here. `end_turn` is called after each call of `handler`; it calls flush().
  void attach(TransportHandler& handler, std::function<void()> end_turn);
  void listen(const Address& address, Door door);
  void stop_listening();

  // The process is gone: its connections are reset, or, after a power cut, left in silence.
  void detach_killed();
  void detach_without_power();

  // Output leaves: the end of a turn.
  void flush();

  const std::string& name() const { return name_; }
  size_t connections() const { return ends_.size(); }

  // Closed while the process stands still. After the process has gone it is to be opened, so that what waits
  // finds nobody.
  Gate& gate() { return gate_; }
  const Gate& gate() const { return gate_; }

  ConnectionId connect(const Address& to) override;
  std::string& output(ConnectionId connection) override;
  size_t unsent_bytes(ConnectionId connection) const override;
  void close(ConnectionId connection) override;

 private:
  friend class SimulatedNetwork;

  enum class State { kConnecting, kOpen, kClosed, kGone };
  enum class Signal { kConnected, kFinished, kReset };

  // Bytes, or a signal in their place.
  struct Segment {
    std::string bytes;
    std::optional<Signal> signal;
  };

  struct End;
  using EndPointer = std::shared_ptr<End>;
  struct Stalled {
    EndPointer to;
    Segment segment;
  };

  // One side of a connection. Events hold it as long as bytes are under way.
  struct End {
    SimulatedHost* host = nullptr;
    ConnectionId id = 0;
    State state = State::kConnecting;
    EndPointer peer;  // each lets go of the other when it ends
    std::string output;
    std::string input;            // what the handler has left
    size_t in_flight = 0;         // of what this end has sent
    Time last_arrival{};          // at the peer
    std::deque<Stalled> stalled;  // sent into a cut
    Time stalled_since{};
    Time drips_until{};
    bool silenced = false;  // nothing that this end sends arrives
    bool lost = false;      // its kernel knows nothing of it any more, and resets what still comes
    bool dirty = false;
    bool paused = false;  // not read from: too much unsent
  };

  void drop_all();

  SimulatedNetwork& network_;
  const std::string name_;
  Gate gate_;
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

  // Nothing that `from` sends reaches `to`. Cuts add up: each is to be healed.
  struct Way {
    std::string from;
    std::string to;

    friend auto operator<=>(const Way&, const Way&) = default;
  };
  void cut(const Way& way);
  void heal(const Way& way);
  void heal_all();
  // What takes that way takes so much longer.
  void delay(const Way& way, Duration longer);

 private:
  friend class SimulatedHost;
  using End = SimulatedHost::End;
  using EndPointer = SimulatedHost::EndPointer;
  using State = SimulatedHost::State;
  using Signal = SimulatedHost::Signal;
  using Segment = SimulatedHost::Segment;

  struct Condition {
    uint32_t cuts = 0;
    Duration longer{};
  };
  struct Listener {
    SimulatedHost* host = nullptr;
    Door door = Door::kClient;
  };

  // What happens between two ends, by the clock of the wire.
  void send_stalled();
  EndPointer add_end(SimulatedHost& host, State state);
  Condition condition(const SimulatedHost& from, const SimulatedHost& to) const;
  bool is_cut(const SimulatedHost& from, const SimulatedHost& to) const {
    return condition(from, to).cuts > 0;
  }
  Duration latency();
  Time arrival(End& from, const End& to, bool in_order);
  void connect(const EndPointer& from, const Address& to);
  void on_connect(const EndPointer& from, const Address& to, Time give_up_at);
  void accept(const EndPointer& from, const Listener& listener);
  void pump(const EndPointer& from);  // hands output to the wire, as much as the window takes
  void send(const EndPointer& from, Segment segment);
  void pass_on(const EndPointer& from, const EndPointer& to, Segment segment);
  void transmit(const EndPointer& from, const EndPointer& to, Segment segment);
  void transmit_bytes(const EndPointer& from, const EndPointer& to, std::string bytes);
  void silence(const EndPointer& from, const EndPointer& to);
  void lose(const EndPointer& lost, const EndPointer& other);
  bool is_dripping(const End& from) const;
  void stall(const EndPointer& from, const EndPointer& to, Segment segment);
  void give_up(const EndPointer& from);
  void end_later(const EndPointer& end, Duration delay, const std::string& why);
  void end_at(const EndPointer& end, Time time, const std::string& why);

  // What a process hears of it: through its machine's gate.
  void arrive(const EndPointer& to, std::string bytes);
  void on_bytes(const EndPointer& to, const std::string& bytes);
  void on_signal(const EndPointer& to, Signal signal);
  void deliver_input(const EndPointer& to);
  void on_output_left(const EndPointer& from);
  void end(const EndPointer& end, const std::string& why);

  World& world_;
  std::map<Address, Listener> doors_;
  std::map<Address, SimulatedHost*> machines_;  // by addresses at which they ever listened
  std::map<Way, Condition> conditions_;         // of ways that aren't clear
  std::vector<EndPointer> stalled_;             // with segments sent into a cut
  ConnectionId last_id_ = 0;
};

}  // namespace ringkv::simulation
