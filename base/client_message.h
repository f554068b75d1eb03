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

struct ClientCreateBucket {
  BucketInfo bucket;
};

struct ClientChangeBucket {
  std::string name;
  Admin::BucketChange change;
};

struct ClientRequest {
  using Body =
      std::variant<ClientPut, ClientGet, ClientScan, ClientLocalGet, ClientExplain, ClientStatus, ClientRing,
                   ClientStatistics, ClientBuckets, ClientCreateBucket, ClientChangeBucket>;
  Body body;
  Duration timeout{};  // how long from its arrival it may take
};

struct ExistsAnswer {
  bool found = false;
};

struct ClientReply {
  using Body = std::variant<std::monostate, PutReceipt, GetResult, ExistsAnswer, ScanPage, LocalRecord,
                            Explanation, ClusterStatus, RingInfo, Statistics, std::vector<BucketInfo>>;
  Status status;
  Body body;  // monostate unless the status is ok
  uint64_t epoch = 0;
  Boot boot;  // of the node that answered
};

// "9f86d081884c7d65.17@4a1b…": client, sequence, and the boot that the operation was first sent to.
struct OperationName {
  OperationId operation;
  Boot boot;
};
std::string to_text(const OperationName& name);
std::optional<OperationName> operation_name_from(std::string_view text);

}  // namespace ringkv
