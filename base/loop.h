// What runs on a loop: the real one (node/asio_runtime) and the simulated one call the same.
#pragma once

#include "base/time.h"

namespace ringkv {

class LoopHandler {
 public:
  virtual ~LoopHandler() = default;

  virtual void on_tick(Time now) = 0;  // every 10 ms
  virtual void on_turn_end() = 0;      // after each turn of the loop, before output is written
};

}  // namespace ringkv
