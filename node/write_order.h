// One client's writes of one key go one after another, in order of submission: the next must know what the
// one before it left behind. Writes are named by numbers of whoever asks; what waits is bounded there.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>

#include "base/check.h"
#include "base/token.h"

namespace ringkv {

class WriteOrder {
 public:
  using Number = uint64_t;  // rises with each submission; never zero

  // True: it is under way from now on. False: it waits.
  bool enter(const KeyIdentity& key, Number number) {
    const auto [known, first] = waiting_.try_emplace(key);
    if (!first) known->second.insert(number);
    return first;
  }

  // The write under way has ended. Which one is under way now; zero: none.
  Number leave(const KeyIdentity& key) {
    const auto known = waiting_.find(key);
    CHECK(known != waiting_.end());
    if (known->second.empty()) {
      waiting_.erase(known);
      return 0;
    }
    return known->second.extract(known->second.begin()).value();
  }

  // One that waits gives up.
  void give_up(const KeyIdentity& key, Number number) { waiting_.at(key).erase(number); }

  size_t keys() const { return waiting_.size(); }

 private:
  std::unordered_map<KeyIdentity, std::set<Number>> waiting_;  // by key with a write under way
};

}  // namespace ringkv
