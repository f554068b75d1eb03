// A connection to the cluster, and what a verb's outcome means to the shell.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "ringkv/admin.h"
#include "ringkv/client.h"
#include "tools/kvctl/flags.h"

namespace ringkv::tools {

enum ExitCode : int {
  kDone = 0,
  kNotFound = 1,
  kConditionNotMet = 1,
  kWrongUse = 2,
  kFailed = 3,  // nothing was written
  kUnknown = 4,
  kForbidden = 5,
  kSeveralValues = 6,
};

ExitCode exit_code_of(const Status& status);

// "kvctl: …" on standard error.
void complain(const std::string& message);

// Complains and returns the exit code. An unknown outcome comes with how to learn it.
int fail(const Status& status);

class Session {
 public:
  // UNAVAILABLE, naming the addresses and how to start a node, when none answers within Target::patience.
  // Asks the first of them that answers alone; `routed`: goes to each key's owners, whoever they are.
  static Result<Session> open(const Target& target, bool routed = false);

  Store& store() { return *store_; }
  Admin& admin() { return admin_; }
  const Target& target() const { return target_; }

  // Of Target::patience.
  std::chrono::milliseconds patience_left() const;

  PutOptions put_options() const;
  GetOptions get_options() const;
  ScanOptions scan_options() const;

 private:
  using Clock = std::chrono::steady_clock;

  Session(const Target& target, Clock::time_point begun, std::unique_ptr<Store> store)
      : target_(target), begun_(begun), store_(std::move(store)), admin_(*store_, target_.timeout) {}

  Target target_;
  Clock::time_point begun_;
  std::unique_ptr<Store> store_;
  Admin admin_;
};

}  // namespace ringkv::tools
