// Everything outside a node, passed in: the real network, disk, clock and randomness, or simulated ones.
#pragma once

#include "base/executor.h"
#include "base/log.h"
#include "base/random.h"
#include "base/time.h"
#include "base/transport.h"
#include "storage/engine.h"

namespace ringkv {

struct Environment {
  Clock& clock;
  Transport& transport;
  Executor& executor;
  Random& random;
  Log& log;
  EngineOpener open_engine;  // called off the loop
};

}  // namespace ringkv
