// Clients that put, delete, get, scan and repeat what they did, at random moments, on few keys, so that they
// meet. They judge nothing: all that they did and saw goes into the history.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tools/simulation/history.h"
#include "tools/simulation/number_ranges.h"
#include "tools/simulation/simulated_client.h"
#include "tools/simulation/strikes.h"

namespace ringkv::simulation {

// The buckets beside the default one. In the spare one nothing is stored: changing it changes the ring. The
// user's is that of his own workload.
inline constexpr std::string_view kLwwBucket = "lww";
inline constexpr std::string_view kSpareBucket = "spare";
inline constexpr std::string_view kUserBucket = "user";

class Workload {
 public:
  struct Node {
    std::string name;
    std::vector<Address> addresses;
    bool is_spare = false;  // in the beginning no member
  };
  struct Settings {
    std::vector<Node> nodes;
    std::function<bool(uint32_t node)> is_member;  // now
    uint32_t copies = 3;
    double operations_per_second = 50;
    uint32_t keys = 8;         // of each bucket
    bool user_bucket = false;  // made too, for others
    uint64_t seed = 0;
    std::optional<Numbers> only;  // of the operations; nothing: all
  };

  Workload(World& world, SimulatedNetwork& network, History& history, Settings settings);

  // Makes the buckets, then goes on until quiesce().
  void start();
  void quiesce() { quiet_ = true; }
  bool ready() const { return buckets_made_ == (settings_.user_bucket ? 3 : 2); }

  // The last word of the history, from all nodes but those named: every key by a read quorum through each
  // node, with what each replica holds, and how each node sees the others.
  void read_everything(const std::set<std::string>& absent);

  // The same for those alone that are asked; and before it a put of every key through each of them.
  void read_through(const std::vector<uint32_t>& nodes);
  void write_everything(const std::vector<uint32_t>& nodes);
  std::vector<std::pair<std::string, std::string>> keys() const;  // with their buckets

  uint64_t under_way() const { return under_way_; }
  std::vector<std::string> client_names() const;

  // By number, in order. What each does comes from a random source of its number: what is left out changes
  // nothing of what the others draw.
  const std::vector<Happening>& asked() const { return asked_; }

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

  void create_bucket(uint32_t client, const BucketInfo& bucket);
  void schedule_next();
  void act();
  void act_now();
  void put(uint32_t client);
  void write(uint32_t client, ClientPut put);
  void repeat(uint32_t client);
  void get(uint32_t client, const Key& key, bool values);
  void local_get(uint32_t client, const std::string& node, const Key& key);
  void scan(uint32_t client);
  void change_ring(uint32_t client);
  void submit_ring_change(uint32_t client);
  void submit(uint32_t client, Operation operation);
  void on_reply(uint32_t client, OperationIndex index, ClientReply reply);
  void note_sightings(const Operation& operation);
  void learn_context(uint32_t client, OperationIndex index);

  void remark(uint32_t client, const std::string& message) const;

  uint32_t any_client();
  const std::string& any_node();
  uint32_t any_quorum();
  const Key& any_key();
  std::string new_value();
  Duration any_timeout();

  World& world_;
  History& history_;
  const Settings settings_;
  SeededRandom moments_;
  SeededRandom random_;                                    // of the operation that is being made
  std::vector<std::unique_ptr<SimulatedClient>> clients_;  // first one for each node, that asks it alone
  std::vector<Key> keys_;
  std::vector<std::map<std::pair<std::string, std::string>, Seen>> seen_;  // of each client
  std::vector<OperationIndex> writes_;                                     // answered with an operation id
  uint32_t buckets_made_ = 0;
  bool quiet_ = false;
  uint64_t last_number_ = 0;
  std::vector<Happening> asked_;
  uint64_t values_ = 0;
  uint64_t ring_changes_ = 0;
  uint64_t under_way_ = 0;
};

}  // namespace ringkv::simulation
