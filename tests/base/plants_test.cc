#include "base/plants.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

// It is false while this is compiled, so that nothing of what it guards is left in a program that isn't
// kvsim.
TEST(Plants, NoneStandsInAProgramForUse) {
  static_assert(!planted(Plant::kSkipFsync));
  static_assert(!planted(Plant::kForgetPromise));
  if constexpr (planted(Plant::kReuseActor)) FAIL();
}

}  // namespace
}  // namespace ringkv
