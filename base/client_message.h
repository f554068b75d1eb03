// What clients ask and what nodes answer: plain values, the same whether they came over the wire or from a
// call in this process. node/wire_codec turns them into bytes and back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/time.h"
#include "base/token.h"
#include "ringkv/admin.h"
#include "ringkv/status.h"
#include "ringkv/store.h"

namespace ringkv {

struct ClientPut {
  std::string bucket;
  std::string key;
  std::string value;
  bool tombstone = false;              // a delete
  std::optional<std::string> context;  // encoded; nothing: blind; empty: replaces nothing
  uint32_t w = 0;
  std::optional<Durability> durability;
  bool primary = false;
  std::optional<uint64_t> ttl_ms;
  bool read_first = false;  // without a context: takes what r replicas hold; every delete does
  // Of a blind put: the context that its client had last for the key, encoded; joined with what the
  // coordinator holds, so that one client's writes follow each other through whatever coordinator.
  std::string seen;
  OperationId operation;
  Boot first_tried;  // the boot that this operation was sent to before; zero: this is the first try
};

struct ClientGet {
  std::string bucket;
  std::string key;
  uint32_t r = 0;
  bool values = true;  // false: only whether there are any
};

struct ClientScan {
  std::string bucket;
  std::string prefix;
  std::string after;
  uint32_t limit = 0;
  bool values = false;
};

struct ClientLocalGet {
  std::string node;
  std::string bucket;
  std::string key;
};

struct ClientExplain {
  std::string bucket;
  std::string key;
};

struct ClientStatus {};

struct ClientRing {
  bool owners = false;
};

struct ClientStatistics {
  std::string node;  // empty: the one asked
  bool reset_latencies = false;
};

struct ClientBuckets {};

// What a client needs to go to the right node at once.
struct ClientRouting {};

// Only on nodes that were started for it.
struct ClientFault {
  enum class Kind : uint8_t { kDrop, kDelay, kHeal, kClock };

  Kind kind = Kind::kHeal;
  std::string peer;       // name of the member with which traffic is dropped or delayed; empty for kHeal
  uint64_t delay_ms = 0;  // each way
  int64_t offset_ms = 0;  // kClock: of the clock of `peer`, which takes it by itself
};

struct ClientCreateBucket {
  BucketInfo bucket;
};

struct ClientChangeBucket {
  std::string name;
  Admin::BucketChange change;
};

// Of one node by name; empty: the one asked.
struct ClientHints {
  std::string node;
};
struct ClientLag {
  std::string node;
};
struct ClientTransfers {
  std::string node;
};
// For all members.
struct ClientThrottle {
  uint64_t bytes_per_second = 0;  // 0: as clients' requests bear
};
struct ClientRepair {
  std::string node;
  std::optional<Partition> partition;  // nothing: all
  bool accept_loss = false;            // takes what is left for the whole, and compares nothing
};
struct ClientPurge {
  std::string node;
};
struct ClientScrub {
  std::string node;
};
struct ClientPartitionSizes {
  std::string node;
};

struct ClientPlanShow {};

struct ClientPlan {
  std::vector<PlanStep> steps;
};

struct ClientCommitPlan {
  uint64_t epoch = 0;
  uint64_t commit_id = 0;  // drawn for each commit
};

struct ClientCancelPlan {
  uint64_t epoch = 0;
};

struct ClientForceRing {
  std::vector<std::string> lost;
  bool apply = false;
};

struct ClientRequest {
  using Body =
      std::variant<ClientPut, ClientGet, ClientScan, ClientLocalGet, ClientExplain, ClientStatus, ClientRing,
                   ClientStatistics, ClientBuckets, ClientCreateBucket, ClientChangeBucket, ClientRouting,
                   ClientFault, ClientHints, ClientLag, ClientRepair, ClientPurge, ClientScrub,
                   ClientPartitionSizes, ClientPlanShow, ClientPlan, ClientCommitPlan, ClientCancelPlan,
                   ClientTransfers, ClientThrottle, ClientForceRing>;
  Body body;
  Duration timeout{};  // how long from its arrival it may take
};

struct ExistsAnswer {
  bool found = false;
};

struct RoutingTable {
  struct ClientAddress {
    NodeId node;
    std::string address;  // empty: it serves no clients of other processes, or isn't known
  };

  std::string description;  // the ring description, encoded
  std::vector<ClientAddress> addresses;
};

// What a plan, or a change under way, moves: all but the sizes, which only those that hold the data know.
struct PlanOutline {
  struct Share {
    std::string from;
    std::string to;
    std::string counted_at;  // a live owner; empty: there is none
    std::vector<Partition> partitions;
  };

  PlanReport report;  // without moves and seconds
  std::vector<Share> shares;
};

struct ClientReply {
  using Body =
      std::variant<std::monostate, PutReceipt, GetResult, ExistsAnswer, ScanPage, LocalRecord, Explanation,
                   ClusterStatus, RingInfo, Statistics, std::vector<BucketInfo>, RoutingTable,
                   std::vector<HintInfo>, std::vector<LagInfo>, RepairReport, PurgeReport, ScrubReport,
                   std::vector<PartitionSize>, PlanOutline, TransferReport, ForceReport>;
  Status status;
  Body body;  // monostate unless the status is ok
  uint64_t epoch = 0;
  Boot boot;  // of the node that answered; of a put that was forwarded, of the node that took it
  // After a put: the context of the whole record that resulted, siblings too. Not for the user: a context of
  // siblings that he hasn't seen would let him replace them; for ClientPut::seen of the next blind put.
  std::string seen;
};

// "9f86d081884c7d65.17@4a1b…": client, sequence, and the boot that the operation was first sent to.
struct OperationName {
  OperationId operation;
  Boot boot;
};
std::string to_text(const OperationName& name);
std::optional<OperationName> operation_name_from(std::string_view text);

}  // namespace ringkv
