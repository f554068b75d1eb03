#include "ringkv/store.h"

#include <gtest/gtest.h>

#include "tests/node/recording_store.h"

namespace ringkv {
namespace {

using std::chrono::milliseconds;

TEST(Store, APutCarriesAllThatItsOptionsSay) {
  RecordingStore store;
  store.reply.body = PutReceipt{9, Context("c"), {}, "1.2@3"};
  PutOptions options;
  options.bucket = "b";
  options.context = Context("seen");
  options.w = 2;
  options.durability = Durability::kBuffered;
  options.primary = true;
  options.read_first = true;
  options.ttl = milliseconds(60'000);
  options.timeout = milliseconds(700);

  const Result<PutReceipt> receipt = store.put("k", "v", options);

  ASSERT_TRUE(receipt.ok());
  EXPECT_EQ(receipt->epoch, 9U);
  const auto& put = store.last<ClientPut>();
  EXPECT_EQ(put.bucket, "b");
  EXPECT_EQ(put.key, "k");
  EXPECT_EQ(put.value, "v");
  EXPECT_FALSE(put.tombstone);
  EXPECT_EQ(put.context, "seen");
  EXPECT_EQ(put.w, 2U);
  EXPECT_EQ(put.durability, Durability::kBuffered);
  EXPECT_TRUE(put.primary);
  EXPECT_TRUE(put.read_first);
  EXPECT_EQ(put.ttl_ms, 60'000U);
  EXPECT_FALSE(put.operation);
  EXPECT_EQ(store.asked.back().timeout, milliseconds(700));
}

TEST(Store, APutIsBlindUnlessAContextIsGiven) {
  RecordingStore store;
  store.reply.body = PutReceipt{};
  ASSERT_TRUE(store.put("k", "v").ok());
  EXPECT_FALSE(store.last<ClientPut>().context.has_value());
  EXPECT_FALSE(store.last<ClientPut>().read_first);
  ASSERT_TRUE(store.put("k", "v", {.context = Context()}).ok());
  EXPECT_EQ(store.last<ClientPut>().context, "");
}

TEST(Store, ARemoveIsATombstone) {
  RecordingStore store;
  store.reply.body = PutReceipt{};
  ASSERT_TRUE(store.remove("k").ok());
  EXPECT_TRUE(store.last<ClientPut>().tombstone);
  EXPECT_EQ(store.last<ClientPut>().value, "");
}

TEST(Store, AGivenOperationIsNamedWithTheBootThatItWasTriedAtFirst) {
  RecordingStore store;
  store.reply.body = PutReceipt{};
  ASSERT_TRUE(store.put("k", "v", {.operation_id = "7.9@b1"}).ok());
  EXPECT_EQ(store.last<ClientPut>().operation, (OperationId{7, 9}));
  EXPECT_EQ(store.last<ClientPut>().first_tried, Boot{0xB1});
}

TEST(Store, WhatIsMalformedIsRefusedAndNotSent) {
  RecordingStore store;
  EXPECT_EQ(store.put("k", "v", {.operation_id = "nonsense"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.put("k", "v", {.ttl = milliseconds(0)}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(store.remove("k", {.operation_id = "1.2"}).status().code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(store.asked.empty());
}

TEST(Store, AnEndlessTimeoutDoesNotOverflow) {
  RecordingStore store;
  store.reply.body = GetResult{};
  ASSERT_TRUE(store.get("k", {.timeout = milliseconds::max()}).ok());
  EXPECT_GT(store.asked.back().timeout, std::chrono::hours(1));
}

TEST(Store, GetsExistsAndScansAskForWhatTheySay) {
  RecordingStore store;
  store.reply.body = GetResult{{"v"}, Context("c"), 9, true};
  const Result<GetResult> got = store.get("k", {.bucket = "b", .r = 3});
  ASSERT_TRUE(got.ok());
  EXPECT_TRUE(got->found() && got->unconfirmed);
  EXPECT_EQ(store.last<ClientGet>().bucket, "b");
  EXPECT_EQ(store.last<ClientGet>().r, 3U);
  EXPECT_TRUE(store.last<ClientGet>().values);

  store.reply.body = ExistsAnswer{true};
  EXPECT_TRUE(*store.exists("k"));
  EXPECT_FALSE(store.last<ClientGet>().values);

  store.reply.body = ScanPage{{{"a", {"1"}}}, "cursor"};
  const Result<ScanPage> page =
      store.scan({.bucket = "b", .prefix = "p", .after = "a", .limit = 7, .values = true});
  ASSERT_TRUE(page.ok());
  EXPECT_EQ(page->entries[0].key, "a");
  EXPECT_EQ(page->after, "cursor");
  EXPECT_EQ(store.last<ClientScan>().prefix, "p");
  EXPECT_EQ(store.last<ClientScan>().after, "a");
  EXPECT_EQ(store.last<ClientScan>().limit, 7U);
  EXPECT_TRUE(store.last<ClientScan>().values);
}

TEST(Store, AFailureIsPassedOnAndAnotherAnswerIsNotMistaken) {
  RecordingStore store;
  store.reply.status = too_many_siblings("100");
  EXPECT_EQ(store.put("k", "v").status(), too_many_siblings("100"));
  store.reply = {};
  store.reply.body = GetResult{};
  EXPECT_EQ(store.put("k", "v").status().code(), StatusCode::kCorruption);
}

TEST(Store, CallbacksGetTheSameAnswers) {
  RecordingStore store;
  store.reply.body = PutReceipt{9, {}, {}, ""};
  uint64_t epochs = 0;
  store.put("k", "v", {}, [&](const Result<PutReceipt>& receipt) { epochs += receipt->epoch; });
  store.remove("k", {}, [&](const Result<PutReceipt>& receipt) { epochs += receipt->epoch; });
  store.reply.body = GetResult{{}, {}, 1, false};
  store.get("k", {}, [&](const Result<GetResult>& result) { epochs += result->epoch; });
  EXPECT_EQ(epochs, 19U);
  StatusCode refused{};
  store.put("k", "v", {.operation_id = "x"},
            [&](const Result<PutReceipt>& receipt) { refused = receipt.status().code(); });
  EXPECT_EQ(refused, StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ringkv
