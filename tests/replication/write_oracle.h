// Every version that was ever stamped, what it superseded, who acknowledged it; and what must be true of
// those that are left in the end.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "storage/record.h"

namespace ringkv {

class WriteOracle {
 public:
  using Dots = std::set<Dot>;

  // The record that results, and all that its writer and the stamping node can have seen of the key.
  void on_stamped(const std::string& key, const Dot& dot, const Record& record, const Dots& seen) {
    EXPECT_FALSE(events_.contains(dot)) << "I4";
    Event event{.key = key};
    Dots held;
    for (const Version& version : record.versions) {
      held.insert(version.dot);
      if (version.dot == dot) event.tombstone = version.kind == VersionKind::kTombstone;
    }
    EXPECT_TRUE(held.contains(dot));
    for (const auto& [other, known] : events_) {
      if (known.key != key || held.contains(other) || !record.context.covers(other)) continue;
      EXPECT_TRUE(seen.contains(other)) << "I3: claims to supersede what its writer can't have seen";
      event.superseded.insert(other);
    }
    events_[dot] = std::move(event);
  }

  void acknowledge(const Dot& dot, uint64_t holder) {
    Event& event = events_.at(dot);
    event.holders.insert(holder);
    if (event.holders.size() >= 2) event.acknowledged = true;
  }
  // Its disk is gone; what had been acknowledged stays so.
  void lose_disk(uint64_t holder) {
    for (auto& [dot, event] : events_) event.holders.erase(holder);
  }

  size_t acknowledged() const {
    return static_cast<size_t>(
        std::count_if(events_.begin(), events_.end(), [](const auto& e) { return e.second.acknowledged; }));
  }
  size_t stamped() const { return events_.size(); }

  // In order.
  std::vector<Actor> lives() const {
    std::vector<Actor> lives;
    for (const auto& [dot, event] : events_) {
      if (lives.empty() || lives.back() != dot.actor) lives.push_back(dot.actor);
    }
    return lives;
  }

  // `live` are the values that all replicas still hold under the key.
  void check_end(const std::string& key, const Dots& live) const {
    std::map<Dot, Dots> superseders;
    for (const auto& [dot, event] : events_) {
      for (const Dot& other : event.superseded) superseders[other].insert(dot);
    }
    for (const auto& [dot, event] : events_) {
      if (event.key != key) continue;
      if (event.acknowledged && !event.tombstone && !superseders.contains(dot)) {
        EXPECT_TRUE(live.contains(dot)) << "I1: lost of " << key << ": " << text(dot);
      }
      if (!live.contains(dot)) continue;
      for (const Dot& by : superseders[dot]) {
        EXPECT_FALSE(events_.at(by).acknowledged)
            << "I2: came back under " << key << ": " << text(dot) << " past " << text(by);
      }
    }
  }

 private:
  struct Event {
    std::string key;
    bool tombstone = false;
    Dots superseded = {};
    std::set<uint64_t> holders = {};  // who acknowledged it
    bool acknowledged = false;
  };

  static std::string text(const Dot& dot) {
    return std::to_string(dot.actor.boot.value) + ":" + std::to_string(dot.counter);
  }

  std::map<Dot, Event> events_;
};

}  // namespace ringkv
