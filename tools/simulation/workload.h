// Clients that put, delete, get, scan and repeat what they did, at random moments, on few keys, so that they
// meet. They judge nothing: all that they did and saw goes into the history.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/simulation/history.h"
#include "tools/simulation/simulated_client.h"

namespace ringkv::simulation {

// The one bucket beside the default one.
inline constexpr std::string_view kLwwBucket = "lww";

class Workload {
 public:
  struct Settings {
    uint32_t ring = 0;
    double operations_per_second = 10;
    uint32_t clients = 3;
    uint32_t keys = 12;     // of each bucket
    std::string node_name;  // whose copy local gets ask for
    std::vector<Address> nodes;
    uint64_t seed = 0;
  };

  Workload(World& world, SimulatedNetwork& network, History& history, Settings settings);

  // Makes the buckets, then goes on until quiesce().
  void start();
  void quiesce() { quiet_ = true; }
  bool ready() const { return ready_; }

  // Reads every key once, and what its replica holds, for the last word of the history.
  void read_everything();

  uint64_t under_way() const { return under_way_; }

 private:
  struct Key {
    std::string bucket;
    std::string name;
  };
  // What one client has of one key from its last answer.
  struct Seen {
    std::string context;
    OperationIndex source = 0;
  };

  void create_bucket();
  void schedule_next();
  void act();
  void put(uint32_t client);
  void write(uint32_t client, ClientPut put);
  void repeat(uint32_t client);
  void get(uint32_t client, const Key& key, bool values);
  void local_get(uint32_t client, const Key& key);
  void scan(uint32_t client);
  void submit(uint32_t client, Operation operation);
  void on_reply(uint32_t client, OperationIndex index, ClientReply reply);
  void learn_context(uint32_t client, OperationIndex index);

  void remark(uint32_t client, const std::string& message) const;

  const Key& any_key();
  std::string new_value();
  Duration any_timeout();

  World& world_;
  History& history_;
  const Settings settings_;
  SeededRandom random_;
  std::vector<std::unique_ptr<SimulatedClient>> clients_;
  std::vector<Key> keys_;
  std::vector<std::map<std::pair<std::string, std::string>, Seen>> seen_;  // of each client
  std::vector<OperationIndex> writes_;                                     // answered with an operation id
  bool ready_ = false;
  bool quiet_ = false;
  uint64_t values_ = 0;
  uint64_t under_way_ = 0;
};

// The operation id that an answer names: in a receipt, or in the message of an unknown outcome.
std::optional<OperationName> operation_named_in(const ClientReply& reply);

}  // namespace ringkv::simulation
