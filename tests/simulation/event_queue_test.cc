#include "tools/simulation/event_queue.h"

#include <gtest/gtest.h>

namespace ringkv::simulation {
namespace {

using std::chrono::milliseconds;

TEST(EventQueue, RunsEventsInOrderOfTimeAndThoseOfOneMomentInOrderOfInsertion) {
  EventQueue events;
  std::string ran;
  events.after(milliseconds(2), [&] { ran += 'c'; });
  events.after(milliseconds(1), [&] { ran += 'a'; });
  events.after(milliseconds(1), [&] { ran += 'b'; });
  events.run_until(events.now() + milliseconds(2));
  EXPECT_EQ(ran, "abc");
}

TEST(EventQueue, RunsWhatAnEventAddsWithinTheTime) {
  EventQueue events;
  const Time start = events.now();
  std::vector<Duration> ran_after;
  events.after(milliseconds(1), [&] {
    events.after(milliseconds(1), [&] { ran_after.push_back(events.now() - start); });
    events.after(milliseconds(9), [&] { ran_after.push_back(events.now() - start); });
  });
  events.run_until(start + milliseconds(5));
  EXPECT_EQ(ran_after, std::vector<Duration>{milliseconds(2)});
  EXPECT_EQ(events.now(), start + milliseconds(5));
}

}  // namespace
}  // namespace ringkv::simulation
