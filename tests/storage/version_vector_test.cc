#include "storage/version_vector.h"

#include <gtest/gtest.h>

#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;

VersionVector vector_of(const std::vector<Dot>& dots) { return context(dots).vector; }

TEST(VersionVector, CoversEveryEventUpToItsCounter) {
  const VersionVector vector = vector_of({{kA, 3}});

  EXPECT_TRUE(vector.covers(Dot{kA, 1}));
  EXPECT_TRUE(vector.covers(Dot{kA, 3}));
  EXPECT_FALSE(vector.covers(Dot{kA, 4}));
  EXPECT_FALSE(vector.covers(Dot{kB, 1}));
  EXPECT_EQ(vector.counter_of(kB), 0U);
}

// The same node after a restart is somebody else.
TEST(VersionVector, KeepsTheBootsOfANodeApart) {
  const VersionVector vector = vector_of({{actor(1, 1), 9}});
  EXPECT_FALSE(vector.covers(Dot{actor(1, 2), 1}));
}

TEST(VersionVector, OnlyRisesAndStaysInOrder) {
  VersionVector vector;
  vector.raise(kC, 2);
  vector.raise(kA, 5);
  vector.raise(kB, 0);
  vector.raise(kA, 4);

  ASSERT_EQ(vector.entries().size(), 2U);
  EXPECT_EQ(vector.entries()[0], (VersionVector::Entry{kA, 5}));
  EXPECT_EQ(vector.entries()[1], (VersionVector::Entry{kC, 2}));
}

TEST(VersionVector, CoversAnotherOnlyWithEachOfItsEntries) {
  const VersionVector both = vector_of({{kA, 2}, {kB, 2}});

  EXPECT_TRUE(both.covers(both));
  EXPECT_TRUE(both.covers(VersionVector()));
  EXPECT_TRUE(both.covers(vector_of({{kB, 1}})));
  EXPECT_FALSE(both.covers(vector_of({{kA, 1}, {kC, 1}})));
  EXPECT_FALSE(VersionVector().covers(both));
}

TEST(VersionVector, ErasesWhatItIsToldTo) {
  VersionVector vector = vector_of({{kA, 2}, {kB, 2}});
  vector.erase_if([](const VersionVector::Entry& entry) { return entry.actor == kA; });
  EXPECT_EQ(vector, vector_of({{kB, 2}}));
}

TEST(VersionVector, JoinEqualsRaisingEntryByEntry) {
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    SeededRandom random(seed);
    VersionVector a;
    VersionVector b;
    for (uint64_t n = random.below(8); n > 0; --n) a.raise(actor(random.below(6)), 1 + random.below(4));
    for (uint64_t n = random.below(8); n > 0; --n) b.raise(actor(random.below(6)), 1 + random.below(4));
    VersionVector raised = a;
    for (const VersionVector::Entry& entry : b.entries()) raised.raise(entry.actor, entry.counter);

    VersionVector joined = a;
    joined.join(b);

    ASSERT_EQ(joined, raised) << "seed " << seed;
  }
}

}  // namespace
}  // namespace ringkv
