// What one kvctl command line asks for.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ringkv/admin.h"
#include "ringkv/store.h"

namespace ringkv::tools {

// Whom to ask and how; the same for every verb.
struct Target {
  std::vector<std::string> nodes = {"127.0.0.1:7401"};
  std::chrono::milliseconds timeout = kRequestTimeoutDefault;  // of one request
  std::chrono::milliseconds patience{0};  // with nodes that don't answer, and with what is waited for
  std::string bucket;
  bool json = false;
};

// What put and del share. Without a context they read first and replace what they read.
struct WriteFlags {
  std::optional<Context> context;
  uint32_t w = 0;
  std::optional<Durability> durability;
  bool primary = false;
  std::optional<std::chrono::milliseconds> ttl;
  std::string operation_id;
  bool receipt = false;
};

struct PutVerb {
  std::string key;
  std::string value;  // "-": from standard input
  std::string file;   // instead of `value`, unless empty
  WriteFlags write;
};

struct GetVerb {
  std::string key;
  uint32_t r = 0;
};

struct DeleteVerb {
  std::string key;
  WriteFlags write;
};

struct ExistsVerb {
  std::string key;
  uint32_t r = 0;
};

struct ScanVerb {
  std::string prefix;
  std::string after;   // decoded
  uint64_t limit = 0;  // 0: all
};

struct LoadVerb {
  std::string file;  // "-": standard input
  bool resume = false;
};

struct DumpVerb {};

struct LocalGetVerb {
  std::string node;
  std::string key;
};

struct ExplainVerb {
  std::string key;
};

struct StatusVerb {
  bool verbose = false;  // with addresses and epochs
};

struct RingVerb {
  bool owners = false;
};

struct ForceRingVerb {
  std::vector<std::string> lost;
  bool yes = false;
};

struct StatsVerb {
  std::string node;  // empty: the one asked
  bool reset_latencies = false;
};

struct CreateBucketVerb {
  BucketInfo bucket;
};

struct ChangeBucketVerb {
  std::string name;
  Admin::BucketChange change;
};

struct ListBucketsVerb {};

// Until it has become true; as long as Target::patience.
struct WaitVerb {
  enum class For : uint8_t { kJoined, kConverged, kHintsDrained };
  For what = For::kJoined;
};

// Of all members, one after the other; `timeout` is of each, for work that takes as long as it takes.
struct HintsVerb {};

struct LagVerb {};

struct TransfersVerb {};

struct ThrottleVerb {
  uint64_t bytes_per_second = 0;  // 0: auto
};

struct RepairVerb {
  std::optional<uint32_t> partition;  // nothing: all
  bool accept_loss = false;
  std::chrono::milliseconds timeout{0};
};

struct PurgeVerb {
  std::chrono::milliseconds timeout{0};
};

struct ScrubVerb {
  std::chrono::milliseconds timeout{0};
};

// What is drafted is printed after each.
struct PlanVerb {
  std::vector<PlanStep> steps;
};

struct ShowPlanVerb {};

struct CommitPlanVerb {
  std::optional<uint64_t> epoch;  // nothing: whatever is drafted
};

struct CancelPlanVerb {};

// Between two members.
struct DropTrafficVerb {
  std::string one;
  std::string other;
};

struct DelayTrafficVerb {
  std::string one;
  std::string other;
  std::chrono::milliseconds delay{0};  // each way
};

struct HealTrafficVerb {};

struct SkewClockVerb {
  std::string node;
  std::chrono::milliseconds offset{0};
};

using Verb =
    std::variant<StatusVerb, PutVerb, GetVerb, DeleteVerb, ExistsVerb, ScanVerb, LoadVerb, DumpVerb,
                 LocalGetVerb, ExplainVerb, RingVerb, StatsVerb, CreateBucketVerb, ChangeBucketVerb,
                 ListBucketsVerb, WaitVerb, DropTrafficVerb, DelayTrafficVerb, HealTrafficVerb, SkewClockVerb,
                 HintsVerb, LagVerb, TransfersVerb, ThrottleVerb, RepairVerb, PurgeVerb, ScrubVerb, PlanVerb,
                 ShowPlanVerb, CommitPlanVerb, CancelPlanVerb, ForceRingVerb>;

struct Invocation {
  Target target;
  Verb verb;
};

// An exit code when there is nothing to do any more: help was printed, or a wrong use was refused.
std::variant<Invocation, int> parse_command_line(int argc, const char* const* argv);

}  // namespace ringkv::tools
