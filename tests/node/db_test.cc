#include "ringkv/db.h"

#include <gtest/gtest.h>

#include <future>
#include <set>
#include <thread>

#include "ringkv/admin.h"
#include "ringkv/client.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

Options options_in(const TempDirectory& directory, const std::string& name = "n1") {
  Options options;
  options.data_directory = (directory.path() / name).string();
  options.bootstrap = true;
  options.replicas = 1;
  options.name = name;
  options.memory_bytes = uint64_t{32} << 20;
  return options;
}

TEST(Db, KeepsWhatWasPutOverARestart) {
  const TempDirectory directory;
  {
    auto db = Db::open(options_in(directory));
    ASSERT_TRUE(db.ok()) << db.status().to_string();
    ASSERT_TRUE((*db)->put("k", std::string("v\0w", 3)).ok());
    ASSERT_TRUE((*db)->put("gone", "x").ok());
    ASSERT_TRUE((*db)->remove("gone").ok());
  }
  auto db = Db::open(options_in(directory));
  ASSERT_TRUE(db.ok()) << db.status().to_string();
  EXPECT_EQ((*db)->get("k")->values, std::vector<std::string>{std::string("v\0w", 3)});
  EXPECT_FALSE((*db)->get("gone")->found());
  EXPECT_TRUE(*(*db)->exists("k"));
  EXPECT_EQ((*db)->scan()->entries.size(), 1U);
  EXPECT_EQ((*db)->epoch(), 2U);  // the first put has opened the ring
}

TEST(Db, ADirectoryIsOpenOnce) {
  const TempDirectory directory;
  auto first = Db::open(options_in(directory));
  ASSERT_TRUE(first.ok());
  auto second = Db::open(options_in(directory));
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.status().code(), StatusCode::kForbidden);
  EXPECT_NE(second.status().message().find(std::to_string(getpid())), std::string::npos);
}

TEST(Db, WrongOptionsAreRefusedByName) {
  const TempDirectory directory;
  const auto refused = [&](const std::function<void(Options&)>& change) {
    Options options = options_in(directory, "fresh");
    change(options);
    auto db = Db::open(options);
    EXPECT_FALSE(db.ok());
    std::filesystem::remove_all(options.data_directory);
    return db.status().to_string();
  };
  EXPECT_NE(refused([](Options& o) { o.data_directory = ""; }).find("data directory"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.bootstrap = false; }).find("--bootstrap"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.partitions = 1000; }).find("power of two"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.weight = 0; }).find("weight"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.name = "no spaces"; }).find("name"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.memory_bytes = 1; }).find("memory"), std::string::npos);
  EXPECT_NE(refused([](Options& o) { o.client_address = "127.0.0.1"; }).find("127.0.0.1"), std::string::npos);
}

TEST(Db, AnotherNamesDirectoryIsRefusedNamingBoth) {
  const TempDirectory directory;
  ASSERT_TRUE(Db::open(options_in(directory)).ok());
  Options options = options_in(directory);
  options.name = "n2";
  const auto db = Db::open(options);
  ASSERT_FALSE(db.ok());
  EXPECT_NE(db.status().message().find("n1"), std::string::npos);
  EXPECT_NE(db.status().message().find("n2"), std::string::npos);
}

// The ring's hold; a default isn't something given.
TEST(Db, AnotherLabelThanTheRingsIsRefusedNamingBoth) {
  const TempDirectory directory;
  Options options = options_in(directory);
  options.rack = "a";
  options.weight = 2;
  ASSERT_TRUE(Db::open(options).ok());
  options.rack = "b";
  const auto rack = Db::open(options);
  ASSERT_FALSE(rack.ok());
  EXPECT_EQ(rack.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(rack.status().message().find("rack a"), std::string::npos) << rack.status().message();
  EXPECT_NE(rack.status().message().find("--rack b"), std::string::npos) << rack.status().message();
  options.rack.reset();
  options.weight = 1;
  EXPECT_EQ(Db::open(options).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(Db::open(options_in(directory)).ok());
}

TEST(Db, ServesClientsOfOtherProcessesToo) {
  const TempDirectory directory;
  Options options = options_in(directory);
  options.client_address = "127.0.0.1:0";
  auto db = Db::open(options);
  ASSERT_TRUE(db.ok()) << db.status().to_string();
  auto client = Client::connect({.nodes = {(*db)->client_address()}, .connections = 3});
  ASSERT_TRUE(client.ok()) << client.status().to_string();
  for (int i = 0; i < 20; ++i) ASSERT_TRUE((*client)->put("k" + std::to_string(i), "v").ok());
  EXPECT_EQ((*db)->scan()->entries.size(), 20U);
  EXPECT_EQ(Admin(**client).status()->members[0].keys, 20U);
}

TEST(Db, CallbacksComeOnceAndFromManyThreadsNothingIsLost) {
  const TempDirectory directory;
  auto db = Db::open(options_in(directory));
  ASSERT_TRUE(db.ok());
  constexpr int kThreads = 4;
  constexpr int kPuts = 200;
  std::atomic<int> answered = 0;
  std::promise<void> all;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kPuts; ++i) {
        (*db)->put("k" + std::to_string(t * kPuts + i), "v", {}, [&](Result<PutReceipt> receipt) {
          EXPECT_TRUE(receipt.ok());
          if (++answered == kThreads * kPuts) all.set_value();
        });
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(all.get_future().wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_EQ(Admin(**db).status()->members[0].keys, static_cast<uint64_t>(kThreads * kPuts));
}

TEST(Db, AfterCloseEveryCallIsRefused) {
  const TempDirectory directory;
  auto db = Db::open(options_in(directory));
  ASSERT_TRUE((*db)->close().ok());
  EXPECT_EQ((*db)->get("k").status().code(), StatusCode::kUnavailable);
  EXPECT_TRUE((*db)->close().ok());
  EXPECT_TRUE(Db::open(options_in(directory)).ok());
}

TEST(Db, LostDataAreNeverReplacedByAnEmptyStore) {
  const TempDirectory directory;
  ASSERT_TRUE(Db::open(options_in(directory)).ok());
  const std::filesystem::path data = options_in(directory).data_directory;
  std::filesystem::rename(data / "db", data / "elsewhere");
  EXPECT_EQ(Db::open(options_in(directory)).status().code(), StatusCode::kCorruption);
  std::filesystem::rename(data / "elsewhere", data / "db");
  EXPECT_TRUE(Db::open(options_in(directory)).ok());

  std::filesystem::rename(data / "IDENTITY", data / "elsewhere");
  EXPECT_EQ(Db::open(options_in(directory)).status().code(), StatusCode::kCorruption);
}

TEST(Db, AStartThatIsRefusedBindsTheDirectoryToNothing) {
  const TempDirectory directory;
  Options wrong = options_in(directory);
  wrong.partitions = 1000;
  ASSERT_FALSE(Db::open(wrong).ok());
  Options other = options_in(directory);
  other.name = "n2";
  EXPECT_TRUE(Db::open(other).ok());
}

// Row B95: peers that start in the same moment never share an actor.
TEST(Db, PeersThatStartTogetherHaveActorsOfTheirOwn) {
  const TempDirectory directory;
  std::vector<std::future<std::string>> dots;
  for (int i = 1; i <= 8; ++i) {
    dots.push_back(std::async(std::launch::async, [&directory, i] {
      auto db = Db::open(options_in(directory, "n" + std::to_string(i)));
      (void)(*db)->put("k", "v");
      return Admin(**db).local_get("n" + std::to_string(i), "k")->versions[0].dot;
    }));
  }
  std::set<std::string> distinct;
  for (auto& dot : dots) distinct.insert(dot.get());
  EXPECT_EQ(distinct.size(), 8U);
}

}  // namespace
}  // namespace ringkv
