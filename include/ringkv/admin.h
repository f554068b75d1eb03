// What an operator asks: who is there, who owns what, where a key lives and why. Works on any Store.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

struct MemberInfo {
  std::string name;
  uint64_t id = 0;
  std::string rack;
  double weight = 1;
  std::string status;        // of the ring: normal, joining, leaving
  std::string state;         // as seen from the node asked: up, down, joining, leaving
  double share = 0;          // of all replica copies, 0 to 1
  std::string peer_address;  // HOST:PORT, as advertised; empty: not heard of yet
  std::string client_address;
  std::optional<uint64_t> epoch;  // of the ring that it has adopted
  std::optional<uint64_t> keys;
  std::optional<uint64_t> bytes;
  std::optional<uint64_t> hints;
  std::optional<uint64_t> hint_bytes;
  std::optional<double> lag_seconds;
};

struct ClusterStatus {
  uint64_t epoch = 0;
  bool change_under_way = false;  // of the ring
  std::vector<MemberInfo> members;
};

struct RingInfo {
  uint64_t epoch = 0;
  std::string digest;
  uint32_t replicas = 0;
  uint32_t partitions = 0;
  std::string placer;
  std::vector<MemberInfo> members;
  std::vector<std::string> owners;  // by partition; only when asked for
};

struct VersionInfo {
  std::string value;
  std::string dot;  // ACTOR:COUNTER
  bool tombstone = false;
  uint64_t time_us = 0;                   // hybrid time, microseconds since 1970
  std::optional<uint64_t> expires_at_ms;  // since 1970
  std::string source;                     // put, read-repair, hint, anti-entropy, transfer
};

// What one replica holds of a key.
struct LocalRecord {
  bool found = false;  // a live value is there
  std::vector<VersionInfo> versions;
  Context context;
};

struct ReplicaInfo {
  std::string node;
  std::string rack;
  bool alive = false;
  std::vector<VersionInfo> versions;
  std::string hint_for;
};

struct Explanation {
  uint64_t token = 0;
  uint32_t partition = 0;
  uint64_t epoch = 0;
  std::vector<ReplicaInfo> replicas;      // in preference order
  std::vector<std::string> would_answer;  // with R = 1, 2, 3: "found", "not found", "unavailable"
};

struct BucketInfo {
  std::string name = {};
  std::string conflict = "siblings";  // or lww; fixed when made
  uint32_t r = 0;                     // 0: quorum
  uint32_t w = 0;
  uint64_t ttl_ms = 0;  // 0: none
};

// Figures by name. Latencies are in microseconds.
using Statistics = std::map<std::string, double>;

class Admin {
 public:
  explicit Admin(Store& store, std::chrono::milliseconds timeout = kRequestTimeoutDefault)
      : store_(store), timeout_(timeout) {}

  Result<ClusterStatus> status();
  Result<RingInfo> ring(bool owners = false);
  Result<Explanation> explain(std::string_view key, std::string_view bucket = "");
  Result<LocalRecord> local_get(std::string_view node, std::string_view key, std::string_view bucket = "");
  // Of the node named, or of the one asked.
  Result<Statistics> statistics(std::string_view node = "", bool reset_latencies = false);
  Result<std::vector<BucketInfo>> buckets();
  Status create_bucket(const BucketInfo& bucket);
  // Absent fields stay as they are. The way conflicts are resolved can't be changed.
  struct BucketChange {
    std::optional<uint32_t> r = {};
    std::optional<uint32_t> w = {};
    std::optional<uint64_t> ttl_ms = {};
  };
  Status change_bucket(std::string_view name, const BucketChange& change);

  // Faults between the node asked and a member, for tests of one's own: only on nodes that were started with
  // faults enabled, else FORBIDDEN. Traffic is dropped or delayed both ways by the node asked.
  Status drop_traffic(std::string_view peer);
  Status delay_traffic(std::string_view peer, std::chrono::milliseconds delay);
  Status heal_traffic();

 private:
  struct ClientReply ask(struct ClientRequest request);

  Store& store_;
  std::chrono::milliseconds timeout_;
};

}  // namespace ringkv
