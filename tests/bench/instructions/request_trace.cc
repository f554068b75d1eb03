// A fixed trace of requests through three whole nodes and the client library, on the simulator's network,
// clock and disks: for counting instructions, which no busy machine makes more (check_instructions.py).
//
//   request_trace put|get REQUESTS
//
// Callgrind counts within trace_requests() alone. All that happens there is counted: the client, both doors,
// the codecs, coordinator, replicas, batches, and the simulator itself, which is the same for every commit
// that doesn't change it.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "tools/simulation/history.h"
#include "tools/simulation/simulated_client.h"
#include "tools/simulation/simulated_network.h"
#include "tools/simulation/simulated_node.h"

namespace ringkv::simulation {
namespace {

constexpr uint32_t kNodes = 3;
constexpr uint32_t kUnderWay = 48;
constexpr uint64_t kKeys = 1000;
constexpr size_t kValueBytes = 100;
constexpr Duration kStep = std::chrono::milliseconds(1);
constexpr Duration kFoundedWithin = std::chrono::seconds(60);

class RequestTrace {
 public:
  RequestTrace() {
    for (uint32_t i = 0; i < kNodes; ++i) add_node(i);
    for (auto& node : nodes_) node->start();
    const Time give_up_at = events_.now() + kFoundedWithin;
    while (!is_founded()) {
      CHECK(events_.now() < give_up_at);
      pass(kStep);
    }
    std::vector<Address> doors;
    for (const auto& node : nodes_) doors.push_back(node->client_addresses().front());
    client_ = std::make_unique<SimulatedClient>(
        world_, network_, SimulatedClient::Settings{.name = "client", .nodes = doors, .seed = 7});
  }

  // `requests` one after the other, so many under way at once; all must succeed.
  void run(bool puts, uint64_t requests) {
    left_ = requests;
    ended_ = 0;
    for (uint32_t i = 0; i < kUnderWay; ++i) send_next(puts);
    client_->end_turn();
    while (ended_ < requests) pass(kStep);
  }

 private:
  void add_node(uint32_t number) {
    SimulatedNode::Settings settings;
    settings.name = "n" + std::to_string(number + 1);
    settings.rack = std::string(1, static_cast<char>('a' + number));
    settings.bootstrap = number == 0;
    settings.partitions = 64;
    settings.cache_bytes = uint64_t{16} << 20;
    settings.round_interval = std::chrono::hours(1);
    settings.hint_budget_bytes = uint64_t{1} << 20;
    settings.scrub_interval = std::chrono::hours(24);
    settings.seed = number + 1;
    settings.others = [this, number] { return others_of(number); };
    settings.known = [](const std::string&) { return std::optional<Member>(); };
    settings.on_figures = [](const Statistics&) {};
    nodes_.push_back(std::make_unique<SimulatedNode>(world_, network_, std::move(settings)));
  }

  std::vector<Address> others_of(uint32_t number) const {
    std::vector<Address> addresses;
    for (uint32_t other = 0; other < nodes_.size(); ++other) {
      if (other != number) addresses.push_back(nodes_[other]->peer_address());
    }
    return addresses;
  }

  bool is_founded() const {
    for (const auto& node : nodes_) {
      if (!node->serving() || node->life()->ring().description().members.size() != kNodes) return false;
    }
    return true;
  }

  void pass(Duration duration) { events_.run_until(events_.now() + duration); }

  void send_next(bool puts) {
    if (left_ == 0) return;
    --left_;
    const std::string key = "bench:" + std::to_string(random_.below(kKeys));
    ClientRequest request{ClientGet{.bucket = {}, .key = key}, std::chrono::seconds(5)};
    if (puts) request.body = a_put(key);
    client_->submit(std::move(request), [this, puts](const ClientReply& reply) {
      if (!reply.status.ok()) {
        std::fprintf(stderr, "request_trace: %s\n", reply.status.to_string().c_str());
        std::exit(1);
      }
      ++ended_;
      send_next(puts);
    });
  }

  static ClientPut a_put(const std::string& key) {
    ClientPut put;
    put.key = key;
    put.value = std::string(kValueBytes, 'v');
    return put;
  }

  SeededRandom random_{1};
  EventQueue events_;
  Trace trace_{nullptr};
  Faults faults_;
  Sightings sightings_;
  History history_;
  World world_{events_, trace_, random_, faults_, sightings_, history_.calendar()};
  SimulatedNetwork network_{world_};
  std::vector<std::unique_ptr<SimulatedNode>> nodes_;
  std::unique_ptr<SimulatedClient> client_;
  uint64_t left_ = 0;
  uint64_t ended_ = 0;
};

}  // namespace
}  // namespace ringkv::simulation

// Callgrind knows it by this name.
extern "C" __attribute__((noinline)) void trace_requests(ringkv::simulation::RequestTrace& trace, bool puts,
                                                         uint64_t requests) {
  trace.run(puts, requests);
}

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  const uint64_t requests = argc == 3 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if ((what != "put" && what != "get") || requests == 0) {
    std::fprintf(stderr, "usage: request_trace put|get REQUESTS      Example: request_trace put 2000\n");
    return 2;
  }
  ringkv::simulation::RequestTrace trace;
  trace.run(true, 2 * ringkv::simulation::kKeys);  // most keys are there, caches are warm, connections open
  trace_requests(trace, what == "put", requests);
  std::printf("%llu %ss answered\n", static_cast<unsigned long long>(requests), argv[1]);
  return 0;
}
