// What an operator asks: who is there, who owns what, where a key lives and why. Works on any Store.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/plan.h"
#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

struct MemberInfo {
  std::string name;
  uint64_t id = 0;
  std::string rack;
  double weight = 1;
  std::string status;        // of the ring: normal, joining, leaving; lost
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
  std::optional<double> skew_seconds;             // its clock against that of the node asked
  std::optional<uint32_t> incomplete_partitions;  // that it has yet to refill
  // While the ring changes: partitions that are to be its own, and those of them that it has taken over.
  std::optional<uint32_t> takeover_partitions;
  std::optional<uint32_t> takeover_ready;
  // Partitions that it owns no more and has copies of, as far as their owners have yet to take these.
  std::optional<uint32_t> handover_partitions;
};

struct ClusterStatus {
  uint64_t epoch = 0;
  bool change_under_way = false;  // of the ring
  std::vector<MemberInfo> members;
  uint32_t voters = 0;   // most of whom must answer before the ring can change
  uint64_t lineage = 1;  // another one after the ring was forced
};

struct RingInfo {
  uint64_t epoch = 0;
  std::string digest;
  uint32_t replicas = 0;
  uint32_t partitions = 0;
  std::string placer;
  std::vector<MemberInfo> members;
  std::vector<std::string> owners;   // by partition; only when asked for
  std::string stage = "none";        // of a change: planned, begun, switched (PlanReport)
  std::vector<std::string> steps;    // of it, in words
  std::vector<std::string> waiting;  // nodes that ask to join
  uint64_t lineage = 1;              // another one after the ring was forced
};

// What forcing the ring comes to.
struct ForceReport {
  bool forced = false;   // false: nothing has happened
  uint64_t lineage = 0;  // of the new ring; 0: drawn when it is forced
  uint64_t epoch = 0;    // of the new ring, or the present one
  std::vector<std::string> survivors;
  std::vector<std::string> lost;
  uint32_t partitions = 0;             // of the ring
  std::vector<uint32_t> without_copy;  // partitions none of whose owners survives
  uint32_t fewer_than_needed = 0;      // others, of which too few survive to have all that was acknowledged
  std::string ends;                    // the change under way or the draft that is dropped; empty: none
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
  std::string hint_for;                 // this is no copy but a hint, kept for that owner
  bool whole = true;                    // false: it is still fetching what it may have missed
  std::vector<std::string> blocked_by;  // why a tombstone stays: "n3's life 4a1b…: 17 up to 12 here"
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

// What one node keeps for another.
struct HintInfo {
  std::string intended;  // "for"
  std::string held_by;
  uint64_t hints = 0;
  uint64_t bytes = 0;
};

// How far `to` has what `from` has.
struct LagInfo {
  std::string from;
  std::string to;
  std::optional<double> lag_seconds;  // since the last full comparison began; nothing: none in this life yet
  uint64_t differing_partitions = 0;  // in the round under way, or the last one
  uint64_t behind = 0;                // writes stamped by `from` that `to` isn't known to have
  std::string problem;                // why the last round failed; empty: it didn't
};

// What a node fetches from another one now: of partitions that differ, until they don't.
struct TransferInfo {
  std::string from;
  std::string to;
  uint64_t partitions = 0;
  uint64_t partitions_done = 0;
  uint64_t keys = 0;  // of partitions that are done
  uint64_t bytes = 0;
  double seconds = 0;  // since it began
};

// All that one node takes in, and how fast it may.
struct TransferReport {
  std::string node;
  uint64_t bytes_per_second = 0;  // that it may take in
  uint64_t limit = 0;             // an operator's (throttle); 0: none, it follows the requests of clients
  bool is_strained = false;       // those that it coordinates are slow beside transfers: it bears less
  uint64_t taken_in = 0;          // in the last second
  std::string paused;             // why it takes nothing in; empty: it does
  uint64_t to_take_over = 0;      // partitions that are to be its own, while the ring changes
  uint64_t taken_over = 0;        // of those
  uint64_t to_refill = 0;         // partitions that it isn't whole in
  uint64_t to_let_go = 0;         // that it owns no longer and has data of
  std::vector<TransferInfo> transfers;
};

struct RepairReport {
  uint64_t differences = 0;  // keys of which something was lacking
  uint64_t keys_sent = 0;
  uint64_t bytes_sent = 0;
  uint64_t partitions = 0;  // compared, each with each other owner
  bool partial = false;     // not all owners could be asked
  std::vector<std::string> problems;
  std::vector<uint32_t> accepted_loss;  // partitions
};

struct PurgeReport {
  uint64_t erased = 0;
  uint64_t blocked = 0;
  std::vector<std::string> blocked_by;  // the oldest first
};

struct ScrubReport {
  uint64_t partitions = 0;
  uint64_t records = 0;
  uint64_t leaves_corrected = 0;
  std::vector<std::string> problems;
};

// What one node holds of a partition.
struct PartitionSize {
  uint32_t partition = 0;
  uint64_t keys = 0;
  uint64_t bytes = 0;
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

  // Each of one node: by name, or "" the one asked. The whole cluster's is the sum over status().members.
  Result<std::vector<HintInfo>> hints(std::string_view node = "");
  Result<std::vector<LagInfo>> lag(std::string_view node = "");
  Result<TransferReport> transfers(std::string_view node = "");
  // How fast each member takes copies in, for all members that the one asked can reach, within seconds; those
  // that are away hear of it when they are back. Bytes a second; 0: as the requests of clients bear. Holds
  // until it is set again, or until no member is left that has been up since.
  Status throttle(uint64_t bytes_per_second);
  // The node pulls what it lacks from every other owner, now; takes as long as it takes, up to the time-out.
  Result<RepairReport> repair(std::string_view node = "", std::optional<uint32_t> partition = {},
                              bool accept_loss = false);
  Result<PurgeReport> purge(std::string_view node = "");
  Result<ScrubReport> scrub(std::string_view node = "");
  // Those of which it holds anything.
  Result<std::vector<PartitionSize>> partition_sizes(std::string_view node = "");

  // ---- Who owns what

  // Adds steps to the one draft of the ring; nothing moves yet. INVALID_ARGUMENT says which step can't be,
  // UNAVAILABLE that a change is under way.
  Status plan(std::vector<PlanStep> steps);
  // What is drafted, or under way. Sizes are as its owners count them now; warnings name who didn't answer.
  Result<PlanReport> show_plan();
  // Begins just what is drafted in that epoch, by the next one, which is returned. STALE_EPOCH: the ring has
  // changed since. FORBIDDEN: a member is to be replaced that is up. UNAVAILABLE, naming them: too few of
  // those who will vote can be reached.
  Result<uint64_t> commit_plan(uint64_t from_epoch);
  // Throws the draft away, or takes back a change that is begun and not switched yet. FORBIDDEN afterwards.
  // Where there is neither, nodes that wait to join are forgotten; who still asks is soon back.
  Status cancel_plan(uint64_t from_epoch);

  // For disasters, when no majority of the voters will ever answer again: the members that the node asked
  // reaches go on without these, which are gone for good, in a ring of another lineage. Who decides changes
  // and nothing else; afterwards plans move the copies. Unless `apply`, says only what it would come to.
  // FORBIDDEN: one of them is up, a majority can be reached, or another member can't be and isn't named.
  Result<ForceReport> force_ring(std::vector<std::string> lost, bool apply);

  // Faults between the node asked and a member, for tests of one's own: only on nodes that were started with
  // faults enabled, else FORBIDDEN. Traffic is dropped or delayed both ways by the node asked.
  Status drop_traffic(std::string_view peer);
  Status delay_traffic(std::string_view peer, std::chrono::milliseconds delay);
  Status heal_traffic();
  // The clock of a member goes wrong by so much; zero: right again.
  Status skew_clock(std::string_view node, std::chrono::milliseconds offset);

 private:
  struct ClientReply ask(struct ClientRequest request);
  PlanReport counted(struct PlanOutline outline);

  Store& store_;
  std::chrono::milliseconds timeout_;
};

}  // namespace ringkv
