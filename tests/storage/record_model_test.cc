// Random histories of one key on three to five replicas, kept twice: as records, and as the sets of events
// that the records stand for. An event knows its whole causal past, so the siblings of a set are the events
// that no other event of it has in its past. Tails get lost, directories are copied, messages are late and
// doubled; whoever loses or copies a state goes on as another life.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>

#include "base/random.h"
#include "storage/record.h"
#include "tests/storage/sample_records.h"

namespace ringkv {
namespace {

using namespace sample;

constexpr size_t kEventsMax = 64;
constexpr int kSteps = 45;
using Events = std::bitset<kEventsMax>;

struct Event {
  Version version;
  Events past;
};

// The same state twice.
struct Copy {
  Record record;
  Events seen;
};

struct Seen {
  CausalContext context;
  Events seen;
};

struct Replica {
  Actor self;
  uint64_t counter = 0;
  WallMicros clock_ahead = 0;
  Copy copy;
  std::vector<Copy> past_states;
};

class History {
 public:
  History(uint64_t seed, Conflict conflict) : random_(seed), conflict_(conflict) {
    replicas_.resize(3 + random_.below(3));
    for (size_t i = 0; i < replicas_.size(); ++i) {
      replicas_[i].clock_ahead = random_.below(12);
      begin_another_life(replicas_[i], i);
    }
    contexts_.push_back({});
  }

  void run() {
    for (now_ = 0; now_ < kSteps && !testing::Test::HasFailure(); ++now_) step();
  }

  Record in_random_order(std::vector<Copy> copies) {
    for (size_t i = copies.size(); i > 1; --i) std::swap(copies[i - 1], copies[random_.below(i)]);
    Record all;
    for (const Copy& copy : copies) all = resolved(merge(all, copy.record));
    return all;
  }

  const std::vector<Copy>& copies() const { return messages_; }
  const Copy& any_copy() { return messages_[random_.below(messages_.size())]; }

 private:
  void step() {
    const size_t number = random_.below(replicas_.size());
    Replica& replica = replicas_[number];
    const uint64_t what = random_.below(20);
    if (what < 7) {
      put(replica);
    } else if (what < 15 && !messages_.empty()) {
      receive(replica, any_copy());  // stays in flight: late and doubled
    } else if (what < 18) {
      contexts_.push_back({replica.copy.record.context, replica.copy.seen});
    } else {
      const Replica& source = what == 18 ? replica : replicas_[random_.below(replicas_.size())];
      lose_or_copy(replica, source);
      begin_another_life(replica, number);
    }
    check(replica.copy);
    replica.past_states.push_back(replica.copy);
    messages_.push_back(replica.copy);
  }

  void put(Replica& replica) {
    const size_t number = events_.size();
    ASSERT_LT(number, kEventsMax);
    std::optional<CausalContext> context;
    Events past = replica.copy.seen;  // a blind put has seen what is here
    if (random_.one_in(2)) {
      const Seen& seen = contexts_[random_.below(contexts_.size())];
      context = seen.context;
      past = seen.seen;
    }
    Version version = value({replica.self, ++replica.counter}, std::to_string(number));
    if (random_.one_in(3)) version = tombstone(version.dot);
    if (random_.one_in(2)) version.expires_at_ms = 1 + random_.below(2);
    version.operation = {1, number + 1};
    version.time =
        next_time(now_ + replica.clock_ahead, replica.copy.record.context, context ? &*context : nullptr, {});
    events_.push_back({version, past});
    replica.copy.record = stamped(replica.copy.record, {version, context}, conflict_);
    replica.copy.seen |= past;
    replica.copy.seen.set(number);
  }

  void receive(Replica& replica, Copy message) {
    for (Version& version : message.record.versions) {
      version.source = static_cast<Source>(random_.below(5));
      if (random_.one_in(4)) version.operation = {};
    }
    replica.copy.record = resolved(merge(replica.copy.record, message.record));
    replica.copy.seen |= message.seen;
  }

  void lose_or_copy(Replica& replica, const Replica& source) {
    replica.copy =
        source.past_states.empty() ? Copy{} : source.past_states[random_.below(source.past_states.size())];
  }

  void begin_another_life(Replica& replica, size_t number) {
    // Boots are drawn, so a later life may come before an earlier one in order of actor.
    replica.self = actor(1 + number, random_.next());
    replica.counter = 0;
  }

  Record resolved(Record record) const {
    if (conflict_ == Conflict::kLastWriterWins) keep_winner(record);
    return record;
  }

  std::vector<Dot> expected_dots(const Events& seen) const {
    std::vector<Dot> dots;
    const Version* winner = nullptr;
    for (size_t i = 0; i < events_.size(); ++i) {
      if (!seen[i]) continue;
      if (winner == nullptr || beats(events_[i].version, *winner)) winner = &events_[i].version;
      const bool superseded = std::any_of(events_.begin(), events_.end(), [&](const Event& later) {
        return later.past[i] && seen[static_cast<size_t>(&later - events_.data())];
      });
      if (!superseded) dots.push_back(events_[i].version.dot);
    }
    // Whatever replaces an event is later than it, so the winner of all is among the siblings.
    if (conflict_ == Conflict::kLastWriterWins && winner != nullptr) return {winner->dot};
    std::sort(dots.begin(), dots.end());
    return dots;
  }

  void check(const Copy& copy) const {
    EXPECT_EQ(dots_of(copy.record), expected_dots(copy.seen));
    for (size_t i = 0; i < events_.size(); ++i) {
      const Version& event = events_[i].version;
      EXPECT_EQ(copy.record.context.covers(event.dot), copy.seen[i]) << "event " << i;
      if (copy.seen[i]) {
        EXPECT_GE(copy.record.context.highest_time, event.time);
      }
    }
  }

  SeededRandom random_;
  const Conflict conflict_;
  std::vector<Replica> replicas_;
  std::vector<Event> events_;
  std::vector<Copy> messages_;
  std::vector<Seen> contexts_;
  WallMicros now_ = 0;
};

// Versions are the concurrent set, contexts are what was seen, neither more nor less, at every step.
TEST(RecordModel, SiblingsAreExactlyTheConcurrentSet) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    History(seed, Conflict::kSiblings).run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(RecordModel, TheLastWriterOfAllThatWasSeenWinsAndSomebodyAlwaysDoes) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    History(seed, Conflict::kLastWriterWins).run();
    ASSERT_FALSE(HasFailure()) << "seed " << seed;
  }
}

TEST(RecordModel, MergeIsCommutativeAssociativeAndIdempotent) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    History history(seed, Conflict::kSiblings);
    history.run();
    for (int i = 0; i < 10; ++i) {
      const Record& a = history.any_copy().record;
      const Record& b = history.any_copy().record;
      const Record& c = history.any_copy().record;
      ASSERT_EQ(merge(a, b), merge(b, a)) << "seed " << seed;
      ASSERT_EQ(merge(merge(a, b), c), merge(a, merge(b, c))) << "seed " << seed;
      ASSERT_EQ(merge(a, a), a) << "seed " << seed;
      ASSERT_EQ(merge(merge(a, b), b), merge(a, b)) << "seed " << seed;
    }
  }
}

TEST(RecordModel, TheOrderOfMergesDoesNotMatter) {
  for (const Conflict conflict : {Conflict::kSiblings, Conflict::kLastWriterWins}) {
    for (uint64_t seed = 0; seed < 1000; ++seed) {
      History history(seed, conflict);
      history.run();
      const Record once = history.in_random_order(history.copies());
      const Record again = history.in_random_order(history.copies());
      ASSERT_EQ(dots_of(once), dots_of(again)) << "seed " << seed;
      ASSERT_EQ(once.context, again.context) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace ringkv
