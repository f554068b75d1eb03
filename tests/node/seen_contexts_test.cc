#include "node/seen_contexts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>

#include "base/random.h"
#include "storage/record_codec.h"

namespace ringkv {
namespace {

KeyIdentity key(const std::string& name) { return identity_of("", name); }
Token token(const std::string& name) { return token_of(digest_of("", name)); }

std::string context(const std::string& name, uint64_t node, uint64_t counter) {
  CausalContext context;
  context.vector.raise({NodeId{node}, Boot{node}}, counter);
  return encode_client_context(context, token(name));
}

CausalContext decoded(SeenContexts& seen, const std::string& name) {
  return *decode_client_context(seen.seen(key(name)), token(name));
}

TEST(SeenContexts, RemembersWhatWasSeenOfEachKey) {
  SeenContexts seen;
  EXPECT_EQ(seen.seen(key("a")), "");
  seen.note(key("a"), token("a"), context("a", 1, 7));
  seen.note(key("b"), token("b"), context("b", 2, 3));
  EXPECT_EQ(seen.seen(key("a")), context("a", 1, 7));
  EXPECT_EQ(seen.seen(key("b")), context("b", 2, 3));
}

TEST(SeenContexts, AnOlderContextTakesNothingBack) {
  SeenContexts seen;
  seen.note(key("a"), token("a"), context("a", 1, 7));
  seen.note(key("a"), token("a"), context("a", 1, 5));
  seen.note(key("a"), token("a"), context("a", 2, 3));
  EXPECT_EQ(decoded(seen, "a").vector.counter_of({NodeId{1}, Boot{1}}), 7U);
  EXPECT_EQ(decoded(seen, "a").vector.counter_of({NodeId{2}, Boot{2}}), 3U);
  EXPECT_EQ(seen.keys(), 1U);
}

// What doesn't decode would have every later put of the key refused.
TEST(SeenContexts, WhatIsEmptyOrDamagedOrOfAnotherKeyChangesNothing) {
  SeenContexts seen;
  seen.note(key("a"), token("a"), "");
  seen.note(key("a"), token("a"), "nonsense");
  seen.note(key("a"), token("a"), context("b", 1, 7));
  EXPECT_EQ(seen.keys(), 0U);
  seen.note(key("a"), token("a"), context("a", 1, 7));
  seen.note(key("a"), token("a"), "nonsense");
  EXPECT_EQ(seen.seen(key("a")), context("a", 1, 7));
}

TEST(SeenContexts, TheLeastRecentlyUsedKeyGoesFirst) {
  SeenContexts seen({.keys_max = 3});
  for (const char* name : {"a", "b", "c"}) seen.note(key(name), token(name), context(name, 1, 1));
  EXPECT_NE(seen.seen(key("a")), "");
  seen.note(key("b"), token("b"), context("b", 1, 1));
  seen.note(key("d"), token("d"), context("d", 1, 1));
  EXPECT_EQ(seen.keys(), 3U);
  EXPECT_EQ(seen.seen(key("c")), "");
  for (const char* name : {"a", "b", "d"}) EXPECT_NE(seen.seen(key(name)), "") << name;
}

TEST(SeenContexts, BytesAreBoundedToo) {
  const size_t each = context("k", 1, 1).size();
  SeenContexts seen({.keys_max = 1000, .bytes_max = 10 * each});
  for (int i = 0; i < 100; ++i) {
    const std::string name = "k" + std::to_string(i);
    seen.note(key(name), token(name), context(name, 1, 1));
    EXPECT_LE(seen.bytes(), 10 * each);
  }
  EXPECT_EQ(seen.keys(), 10U);
  for (uint64_t node = 1; node < 20; ++node) seen.note(key("k99"), token("k99"), context("k99", node, 1));
  EXPECT_LE(seen.bytes(), 10 * each);
  EXPECT_EQ(seen.bytes(),
            seen.keys() * each + (seen.seen(key("k99")).empty() ? 0 : seen.seen(key("k99")).size() - each));
}

// Against the plain way to say it, with keys that come and go.
TEST(SeenContexts, AgreesWithAListInOrderOfUse) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SeededRandom random(seed);
    const size_t keys_max = 1 + random.below(300);
    SeenContexts seen({.keys_max = keys_max});
    std::list<std::pair<std::string, std::string>> model;  // the most recently used first
    for (int step = 0; step < 5000; ++step) {
      const std::string name = "k" + std::to_string(random.below(2 * keys_max));
      const auto known =
          std::find_if(model.begin(), model.end(), [&](const auto& item) { return item.first == name; });
      if (known != model.end()) model.splice(model.begin(), model, known);
      if (random.one_in(2)) {
        ASSERT_EQ(seen.seen(key(name)), known == model.end() ? "" : model.front().second) << "seed " << seed;
        continue;
      }
      const std::string fresh = context(name, 1, static_cast<uint64_t>(step) + 1);
      seen.note(key(name), token(name), fresh);
      if (known == model.end()) model.emplace_front(name, "");
      model.front().second = fresh;
      if (model.size() > keys_max) model.pop_back();
      ASSERT_EQ(seen.keys(), model.size()) << "seed " << seed;
    }
  }
}

TEST(SeenContexts, TwoThatAreTooMuchTogetherLeaveTheNewer) {
  CausalContext many, one;
  for (uint64_t i = 1; i <= kContextActorsMax; ++i) many.vector.raise({NodeId{i}, Boot{1}}, 1);
  one.vector.raise({NodeId{1}, Boot{2}}, 1);
  SeenContexts seen;
  seen.note(key("a"), token("a"), encode_client_context(many, token("a")));
  seen.note(key("a"), token("a"), encode_client_context(one, token("a")));
  EXPECT_EQ(decoded(seen, "a"), one);
}

}  // namespace
}  // namespace ringkv
