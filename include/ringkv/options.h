// How a peer is set up: what kvnode's flags say, for a program that opens one inside itself.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringkv/store.h"

namespace ringkv {

enum class Placer : uint8_t { kBalanced, kHashed };
enum class LogSeverity : uint8_t { kDebug, kInfo, kWarning, kError };

struct Options {
  std::string data_directory = {};

  // First start only: found a cluster, or join one through any of its members (HOST:PORT of their peer
  // doors). A later start finds what it needs in its directory, and asks these as well.
  bool bootstrap = false;
  std::vector<std::string> join = {};
  std::chrono::milliseconds join_timeout{30'000};
  // Joins no ring by itself but waits, as long as it hears members, until a plan takes it in (Admin::plan).
  bool plan_only = false;

  // Of the ring; a joiner that gives one must give the ring's.
  std::optional<uint32_t> replicas = {};  // 3
  std::optional<uint32_t> partitions =
      {};                             // 4096; a power of two, up to 65,536; fixed for the cluster's life
  std::optional<Placer> placer = {};  // balanced

  // Unique in the cluster; empty: the host's name at the first start, later the kept one.
  std::string name = {};
  // At the first start; afterwards the ring's hold, and one that is given and differs is refused: a plan
  // changes them (PlanRack, PlanWeight).
  std::optional<std::string> rack = {};  // "default"
  std::optional<double> weight = {};     // 1

  // HOST:PORT where other nodes are heard; port 0 picks one; empty: a cluster of one.
  std::string peer_address = {};
  // HOST:PORT where clients of other processes are served; port 0 picks one; empty: only this process.
  std::string client_address = {};
  // Where others find those two; empty: at the listening address. Required where that is 0.0.0.0 or [::].
  std::string advertised_peer_address = {};
  std::string advertised_client_address = {};

  bool enable_faults = false;  // takes Admin's faults

  Durability durability = Durability::kSynced;
  uint64_t memory_bytes = uint64_t{256} << 20;  // block cache, write buffers and caches of records together

  // Below this much free disk puts are refused by name; 0: 5 % of the disk, at most 1 GiB.
  uint64_t disk_reserve_bytes = 0;

  // What this node keeps for each node that can't be reached; past it the gap is closed when that node
  // returns. Zero: no hints.
  uint64_t hint_budget_bytes = uint64_t{256} << 20;
  // How often it compares itself with each other owner; zero: only when asked to.
  std::chrono::milliseconds round_interval{10'000};
  // How often all data are read and checked; zero: only when asked to.
  std::chrono::milliseconds scrub_interval{std::chrono::hours(7 * 24)};
  // After a change of the ring: what lies here of partitions that the node doesn't own any more is kept so
  // long, unreadable, once their owners have it.
  std::chrono::milliseconds drop_grace{std::chrono::minutes(10)};

  // A member that this node couldn't reach for so long, without a break, may go by itself: the ring changes
  // without it once a majority of the voters say so, each by its own setting. Zero: this node never does.
  std::chrono::milliseconds auto_remove_after{0};

  // Called once, from a thread of the Db, when this node has left its cluster as it was told to (OK), or its
  // joining was cancelled: it serves nothing any more, and its data directory can't come back. Don't close
  // the Db from within.
  std::function<void(const Status&)> on_left = {};

  // Called from any thread; nothing: no log.
  std::function<void(LogSeverity, std::string_view room, std::string_view message)> log = {};
  LogSeverity log_severity = LogSeverity::kInfo;
};

}  // namespace ringkv
