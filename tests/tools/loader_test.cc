#include "tools/kvctl/loader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <mutex>
#include <thread>

#include "base/client_message.h"

namespace ringkv::tools {
namespace {

// Answers each put as the test says: right away, or when release() is called.
class FakeStore final : public Store {
 public:
  std::function<Status(const ClientPut&)> answer = [](const ClientPut&) { return Status(); };
  std::atomic<bool> hold = false;
  std::atomic<size_t> arrived = 0;
  bool overlapped = false;  // two puts of one key were under way
  std::vector<ClientPut> puts;

  void release() {
    hold = false;
    std::vector<Held> held;
    {
      const std::lock_guard lock(mutex_);
      held.swap(held_);
    }
    for (Held& put : held) put.reply();
  }

 private:
  struct Held {
    std::string key;
    std::function<void()> reply;
  };

  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    std::unique_lock lock(mutex_);
    puts.push_back(std::get<ClientPut>(request.body));
    ClientReply reply;
    reply.status = answer(puts.back());
    if (reply.status.ok()) reply.body = PutReceipt{};
    for (const Held& put : held_) overlapped = overlapped || put.key == puts.back().key;
    ++arrived;
    if (hold) {
      held_.push_back({puts.back().key, [done = std::move(done), reply] { done(reply); }});
      return;
    }
    lock.unlock();
    done(reply);
  }

  std::mutex mutex_;
  std::vector<Held> held_;
};

class LoaderTest : public testing::Test {
 protected:
  LoaderTest()
      : loader_(store_, {}, limits(), [this](uint64_t line, const Status&) { refused_.push_back(line); }) {}

  static LoaderLimits limits() {
    return {.entries_max = 4, .bytes_max = 1000, .tries_max = 3, .retry_after = std::chrono::milliseconds(0)};
  }
  Status add(uint64_t line, const std::string& key, std::vector<std::string> values = {"v"}) {
    return loader_.add({.line = line, .offset = line * 10}, {key, std::move(values)});
  }

  FakeStore store_;
  std::vector<uint64_t> refused_;
  Loader loader_;
};

TEST_F(LoaderTest, StoresEveryEntryBlindly) {
  ASSERT_TRUE(add(1, "a").ok());
  ASSERT_TRUE(add(2, "b").ok());
  ASSERT_TRUE(loader_.finish().ok());

  EXPECT_EQ(loader_.stored(), 2U);
  ASSERT_EQ(store_.puts.size(), 2U);
  EXPECT_EQ(store_.puts[0].key, "a");
  EXPECT_FALSE(store_.puts[0].context.has_value());
  EXPECT_EQ(loader_.acknowledged(), (Position{.line = 2, .offset = 20}));
}

TEST_F(LoaderTest, SiblingsComeBackAsSiblings) {
  ASSERT_TRUE(add(1, "a", {"x", "y", "z"}).ok());
  ASSERT_TRUE(loader_.finish().ok());

  ASSERT_EQ(store_.puts.size(), 3U);
  EXPECT_FALSE(store_.puts[0].context.has_value());
  EXPECT_EQ(store_.puts[1].context, std::string());
  EXPECT_EQ(store_.puts[2].context, std::string());
  EXPECT_EQ(store_.puts[2].value, "z");
  EXPECT_EQ(loader_.stored(), 1U);
}

TEST_F(LoaderTest, ALineCountsOnlyWhenAllBeforeItDo) {
  store_.hold = true;
  ASSERT_TRUE(add(1, "a").ok());
  store_.hold = false;
  ASSERT_TRUE(add(2, "b").ok());
  loader_.skip({.line = 3, .offset = 30});
  EXPECT_EQ(loader_.acknowledged().line, 0U);

  store_.release();
  EXPECT_EQ(loader_.acknowledged().line, 3U);
}

TEST_F(LoaderTest, AnEntryThatCannotBeStoredIsNamedAndPassed) {
  store_.answer = [](const ClientPut& put) {
    return put.key.empty() ? invalid_argument("empty key") : Status();
  };

  ASSERT_TRUE(add(1, "a").ok());
  ASSERT_TRUE(add(2, "").ok());
  ASSERT_TRUE(add(3, "c").ok());
  ASSERT_TRUE(loader_.finish().ok());

  EXPECT_EQ(refused_, std::vector<uint64_t>{2});
  EXPECT_EQ(loader_.stored(), 2U);
  EXPECT_EQ(loader_.acknowledged().line, 3U);
}

TEST_F(LoaderTest, TriesAgainWhenNothingWasWritten) {
  int failures = 2;
  store_.answer = [&failures](const ClientPut&) { return failures-- > 0 ? overloaded("busy") : Status(); };

  ASSERT_TRUE(add(1, "a").ok());
  ASSERT_TRUE(loader_.finish().ok());

  EXPECT_EQ(store_.puts.size(), 3U);
  EXPECT_EQ(loader_.stored(), 1U);
}

TEST_F(LoaderTest, StopsAtAFailureThatStaysAndKnowsTheLastWholeLine) {
  store_.answer = [](const ClientPut& put) { return put.key == "b" ? unavailable("no node") : Status(); };

  ASSERT_TRUE(add(1, "a").ok());
  ASSERT_TRUE(add(2, "b").ok());
  (void)add(3, "c");
  const Status status = loader_.finish();

  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_NE(status.message().find("line 2"), std::string::npos) << status.message();
  EXPECT_EQ(loader_.acknowledged().line, 1U);
  EXPECT_FALSE(add(4, "d").ok());
}

// Otherwise the earlier one could arrive last, and win.
TEST_F(LoaderTest, AnEntryWaitsForAnEarlierOneOfItsKey) {
  store_.hold = true;
  ASSERT_TRUE(add(1, "a", {"first"}).ok());
  std::future<Status> second = std::async(std::launch::async, [this] { return add(2, "a", {"second"}); });

  // Time enough for a loader that doesn't wait to show it.
  for (int i = 0; i < 100'000 && store_.arrived < 2; ++i) std::this_thread::yield();
  store_.release();

  ASSERT_TRUE(second.get().ok());
  ASSERT_TRUE(loader_.finish().ok());
  ASSERT_EQ(store_.puts.size(), 2U);
  EXPECT_EQ(store_.puts[1].value, "second");
  EXPECT_FALSE(store_.overlapped);
}

}  // namespace
}  // namespace ringkv::tools
