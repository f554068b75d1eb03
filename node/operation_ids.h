// Names for the operations of one client: random bits of its own, and a count. From any thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/ids.h"

namespace ringkv {

class OperationIds {
 public:
  explicit OperationIds(uint64_t client) : client_(client) {}

  OperationId next() { return {client_, ++last_}; }

 private:
  const uint64_t client_;
  std::atomic<uint64_t> last_ = 0;
};

}  // namespace ringkv
