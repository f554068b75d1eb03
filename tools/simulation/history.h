// What clients asked and were answered, in order, and what excuses a loss. The workload writes it, the
// checkers read it; neither knows the other.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/client_message.h"
#include "base/ids.h"
#include "base/time.h"
#include "tools/simulation/calendar.h"

namespace ringkv::simulation {

// Counts calls, answers and losses: of two events the one with the smaller step was first.
using Step = uint64_t;
inline constexpr Step kNever = std::numeric_limits<Step>::max();

using OperationIndex = size_t;

// One request of one client. A write that is repeated by its operation id is several, all naming the first.
struct Operation {
  uint32_t client = 0;
  ClientRequest request;
  std::optional<OperationIndex> first_try;       // of this write; nothing: this is it
  std::optional<OperationIndex> context_source;  // the operation whose answer the write's context was
  Step invoked = 0;
  Time invoked_at{};

  Step completed = kNever;
  Time completed_at{};
  ClientReply reply;
};

struct PowerCut {
  std::string node;
  Step at = 0;
};

// A disk that was wiped, put back to an older copy, or is away for good.
struct DiskLoss {
  std::string node;
  Step kept = 0;  // what it held then is still there
  Step at = 0;
  Step noticed = kNever;  // by the node; an older copy must first meet who has met a later life of it
};

class History {
 public:
  OperationIndex invoke(Operation operation, Time now) {
    operation.invoked = ++last_step_;
    operation.invoked_at = now;
    operations_.push_back(std::move(operation));
    return operations_.size() - 1;
  }
  void complete(OperationIndex index, ClientReply reply, Time now) {
    Operation& operation = operations_[index];
    operation.completed = ++last_step_;
    operation.completed_at = now;
    operation.reply = std::move(reply);
  }
  void cut_power(const std::string& node) { power_cuts_.push_back({node, ++last_step_}); }
  void lose_disk(const std::string& node, Step kept = 0) {
    const Step at = ++last_step_;
    disk_losses_.push_back({node, kept, at, kept == 0 ? at : kNever});
  }
  void notice_loss(const std::string& node) {
    for (DiskLoss& loss : disk_losses_) {
      if (loss.node == node && loss.noticed == kNever) loss.noticed = ++last_step_;
    }
  }
  // A moment between what was before and what comes.
  Step mark() { return ++last_step_; }
  // Everything has converged: from here on each answer includes whatever was acknowledged.
  void heal() { healed_ = ++last_step_; }

  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<PowerCut>& power_cuts() const { return power_cuts_; }
  const std::vector<DiskLoss>& disk_losses() const { return disk_losses_; }
  Step healed() const { return healed_; }
  Calendar& calendar() { return calendar_; }
  const Calendar& calendar() const { return calendar_; }

 private:
  std::vector<Operation> operations_;
  std::vector<PowerCut> power_cuts_;
  std::vector<DiskLoss> disk_losses_;
  Calendar calendar_;
  Step last_step_ = 0;
  Step healed_ = kNever;
};

// For people: "operation 17".
std::string name_of(OperationIndex index);

// The operation id that an answer names: in a receipt, or in the message of an unknown outcome.
std::optional<OperationName> operation_named_in(const ClientReply& reply);

// Of so many owners, a default r and w of every bucket.
constexpr uint32_t quorum_of(uint32_t owners) { return owners / 2 + 1; }
// Owners that hold what a confirmed get has answered: N - r + 1.
constexpr uint32_t confirming_of(uint32_t owners) { return owners - quorum_of(owners) + 1; }

// What the checkers must know of the ring.
class RingHistory;

struct RingFacts {
  uint32_t copies = 1;     // of each key, where the ring never changed
  std::string lww_bucket;  // the one in which the last writer wins
  // The epoch that made it; a node that hasn't heard of that doesn't know the bucket.
  std::map<std::string, uint64_t, std::less<>> bucket_since;
  std::map<NodeId, std::string> names;
  std::set<std::string> gone;          // for good
  std::set<std::string> left;          // were no members at some time
  bool files_damaged = false;          // some node found a file that it couldn't read
  std::set<Actor> closed_lives;        // contexts needn't list them any more
  const RingHistory* rings = nullptr;  // nothing: owners never changed
};

// A broken promise: the invariant's name, and what happened.
struct Violation {
  std::string invariant;
  std::string what;
};

}  // namespace ringkv::simulation
