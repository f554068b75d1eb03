#include "tools/kvbench/key_space.h"

#include <gtest/gtest.h>

namespace ringkv::tools {
namespace {

TEST(KeySpace, NewKeysFollowThoseThatAreThere) {
  KeySpace keys(10);

  EXPECT_EQ(keys.insert(), 10U);
  EXPECT_EQ(keys.insert(), 11U);
  EXPECT_EQ(keys.readable(), 10U);
}

// A reader of "the latest" asks for no key whose put is under way.
TEST(KeySpace, AKeyIsReadableOnceAllBeforeItAre) {
  KeySpace keys(10);
  for (int i = 0; i < 3; ++i) keys.insert();

  keys.inserted(12);
  keys.inserted(11);
  EXPECT_EQ(keys.readable(), 10U);

  keys.inserted(10);
  EXPECT_EQ(keys.readable(), 13U);
}

}  // namespace
}  // namespace ringkv::tools
