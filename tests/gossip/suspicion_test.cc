#include "gossip/suspicion.h"

#include <gtest/gtest.h>

namespace ringkv {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr NodeId kA{1};
constexpr NodeId kB{2};
constexpr NodeId kC{3};
constexpr NodeId kD{4};
constexpr NodeId kE{5};
constexpr Time kStart{seconds(100)};
constexpr Suspicion::Patience kPatience{.longest = seconds(2), .shortest = seconds(1), .confirmations = 3};

TEST(Suspicion, LastsItsLongestWithASingleAccuser) {
  Suspicion suspicion(kA, kPatience, kStart);
  suspicion.confirm(kA);
  EXPECT_EQ(suspicion.ends(), kStart + seconds(2));
}

TEST(Suspicion, IsShorterWithEachAccuserUntilItsShortest) {
  Suspicion suspicion(kA, kPatience, kStart);
  suspicion.confirm(kB);
  EXPECT_EQ(suspicion.ends(), kStart + milliseconds(1500));
  suspicion.confirm(kC);
  EXPECT_LT(suspicion.ends(), kStart + milliseconds(1500));
  suspicion.confirm(kD);
  EXPECT_EQ(suspicion.ends(), kStart + seconds(1));
  suspicion.confirm(kE);
  EXPECT_EQ(suspicion.ends(), kStart + seconds(1));
}

TEST(Suspicion, NamesThisNodeAsTheAccuserOnceItsOwnProbesFail) {
  Suspicion suspicion(kA, kPatience, kStart);
  EXPECT_TRUE(suspicion.observe(kE));
  EXPECT_FALSE(suspicion.observe(kE));
  EXPECT_EQ(suspicion.accuser(), kE);
  EXPECT_EQ(suspicion.ends(), kStart + milliseconds(1500));

  Suspicion crowded(kA, kPatience, kStart);
  for (const NodeId accuser : {kB, kC, kD}) crowded.confirm(accuser);
  crowded.observe(kE);
  EXPECT_EQ(crowded.accuser(), kE);
  EXPECT_EQ(crowded.ends(), kStart + seconds(1));
}

}  // namespace
}  // namespace ringkv
