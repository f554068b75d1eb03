// Blocking work elsewhere, its continuation back on the loop.
#pragma once

#include <functional>

namespace ringkv {

// A lane runs its work in order of arrival; lanes run beside each other.
enum class Lane {
  kCommit,  // one thread: writes to the store, one batch at a time
  kRead,    // a few threads: reads that missed the cache; order isn't kept
};

class Executor {
 public:
  virtual ~Executor() = default;

  // `work` runs off the loop and touches nothing of the loop's; `then` runs on the loop afterwards. Called on
  // the loop. Neither may throw.
  virtual void run(Lane lane, std::function<void()> work, std::function<void()> then) = 0;
};

}  // namespace ringkv
