#include "replication/request_numbers.h"

#include <gtest/gtest.h>

#include <set>

namespace ringkv {
namespace {

constexpr Time kNow{std::chrono::seconds(1)};
constexpr Duration kSecond = std::chrono::seconds(1);

// Found by exploration: an answer that was late for one life passed for the answer to the next one's question
// of the same number, about another key.
TEST(RequestNumbers, OfTwoLivesAreNeverTheSame) {
  std::set<RequestNumber> all;
  for (uint64_t boot = 1; boot <= 50; ++boot) {
    RequestNumbers numbers(Boot{boot});
    for (int i = 0; i < 1000; ++i) EXPECT_TRUE(all.insert(numbers.next()).second);
  }
  EXPECT_FALSE(all.contains(0));
}

TEST(RequestNumbers, HaveNotTheBitOfWhatConvergesInTheBackground) {
  for (uint64_t boot = 1; boot <= 50; ++boot) {
    RequestNumbers numbers(Boot{boot});
    for (int i = 0; i < 10; ++i) EXPECT_EQ(numbers.next() & kBackground, 0U);
  }
}

TEST(RequestNumbers, WakeRequestsInOrderOfTimeAndOnce) {
  RequestNumbers numbers(Boot{1});
  numbers.wake(7, kNow + 3 * kSecond);
  numbers.wake(8, kNow + 1 * kSecond);
  numbers.wake(9, kNow + 2 * kSecond);
  EXPECT_TRUE(numbers.take_due(kNow).empty());
  EXPECT_EQ(numbers.take_due(kNow + 2 * kSecond), (std::vector<RequestNumber>{8, 9}));
  EXPECT_EQ(numbers.take_due(kNow + 9 * kSecond), std::vector<RequestNumber>{7});
  EXPECT_TRUE(numbers.take_due(kNow + 9 * kSecond).empty());
}

TEST(RequestNumbers, AlarmsOfWhatIsAnsweredAreForgotten) {
  RequestNumbers numbers(Boot{1});
  for (RequestNumber request = 1; request <= 100; ++request) numbers.wake(request, kNow + kSecond);
  numbers.forget_alarms_unless([](RequestNumber request) { return request % 50 == 0; });
  EXPECT_EQ(numbers.alarms(), 2U);
  EXPECT_EQ(numbers.take_due(kNow + kSecond).size(), 2U);
}

}  // namespace
}  // namespace ringkv
