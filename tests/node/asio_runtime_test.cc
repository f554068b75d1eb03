#include "node/asio_runtime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <thread>

#include "tests/node/loop_fixture.h"

namespace ringkv {
namespace {

class CountingLoop final : public LoopHandler {
 public:
  void on_tick(Time) override {
    if (++ticks == 3) three_ticks.set_value();
  }
  void on_turn_end() override { ++turns; }

  int ticks = 0;
  int turns = 0;
  std::promise<void> three_ticks;
};

TEST(AsioRuntime, PostsOfAThreadRunInOrderOnOneThread) {
  CountingLoop loop;
  AsioRuntime runtime("test", 0);
  runtime.start(loop);
  constexpr int kPosts = 10'000;
  std::vector<std::pair<int, int>> seen;  // thread, number: touched by the loop only
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int i = 0; i < kPosts; ++i) runtime.post([&, thread, i] { seen.emplace_back(thread, i); });
    });
  }
  for (std::thread& thread : threads) thread.join();

  runtime.stop();

  ASSERT_EQ(seen.size(), 4U * kPosts);
  std::vector<int> next(4, 0);
  for (const auto& [thread, i] : seen) EXPECT_EQ(i, next[static_cast<size_t>(thread)]++);
}

TEST(AsioRuntime, TicksByItselfAndEndsEachTurn) {
  CountingLoop loop;
  AsioRuntime runtime("test", 0);
  runtime.start(loop);

  EXPECT_EQ(loop.three_ticks.get_future().wait_for(kPatience), std::future_status::ready);

  runtime.stop();
  EXPECT_GE(loop.turns, loop.ticks);
}

TEST(AsioRuntime, WorkRunsElsewhereAndItsContinuationOnTheLoop) {
  CountingLoop loop;
  AsioRuntime runtime("test", 2);
  runtime.start(loop);
  std::promise<std::thread::id> loop_thread, then_thread;
  std::thread::id work_thread;

  runtime.post([&] {
    loop_thread.set_value(std::this_thread::get_id());
    runtime.run(
        Lane::kRead, [&] { work_thread = std::this_thread::get_id(); },
        [&] { then_thread.set_value(std::this_thread::get_id()); });
  });

  const std::thread::id loop_id = loop_thread.get_future().get();
  EXPECT_EQ(then_thread.get_future().get(), loop_id);
  EXPECT_NE(work_thread, loop_id);
}

TEST(AsioRuntime, TheCommitLaneKeepsOrder) {
  CountingLoop loop;
  AsioRuntime runtime("test", 2);
  runtime.start(loop);
  std::vector<int> worked, continued;

  runtime.post([&] {
    for (int i = 0; i < 1000; ++i) {
      runtime.run(
          Lane::kCommit, [&, i] { worked.push_back(i); }, [&, i] { continued.push_back(i); });
    }
  });
  runtime.stop();

  ASSERT_EQ(worked.size(), 1000U);
  EXPECT_TRUE(std::is_sorted(worked.begin(), worked.end()));
  EXPECT_EQ(continued, worked);
}

TEST(AsioRuntime, StopFinishesWhatWasHandedOverAndComesTwice) {
  CountingLoop loop;
  AsioRuntime runtime("test", 1);
  runtime.start(loop);
  std::promise<void> release;
  bool continued = false;
  runtime.post([&] {
    runtime.run(
        Lane::kRead, [&] { release.get_future().wait(); }, [&] { continued = true; });
  });
  std::thread releaser([&] { release.set_value(); });

  runtime.stop();
  runtime.stop();

  releaser.join();
  EXPECT_TRUE(continued);
}

TEST(AsioRuntime, APortInUseIsRefusedByNumber) {
  AsioRuntime runtime("test", 0);
  const Result<Address> first = runtime.listen("127.0.0.1:0", Door::kClient);
  ASSERT_TRUE(first.ok());

  const Result<Address> second = runtime.listen(*first, Door::kPeer);

  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
  EXPECT_NE(second.status().message().find("port " + first->substr(first->find(':') + 1) + " is in use"),
            std::string::npos)
      << second.status().message();
}

TEST(AsioRuntime, AnAddressThatIsNoneOrNotOursIsRefused) {
  AsioRuntime runtime("test", 0);
  EXPECT_EQ(runtime.listen("7401", Door::kClient).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(runtime.listen("192.0.2.1:0", Door::kClient).status().code(), StatusCode::kUnavailable);
}

}  // namespace
}  // namespace ringkv
