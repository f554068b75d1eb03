// Which rings there were, and from when on: who has held a key all the time, so that what he held must still
// be there, and of how many copies there were then.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "replication/ring.h"
#include "tools/simulation/history.h"

namespace ringkv::simulation {

class RingHistory {
 public:
  // A ring is seen up to so much later than some node has adopted it.
  static constexpr Duration kSeenLate = std::chrono::seconds(1);

  bool is_new(const Ring& ring) const { return rings_.empty() || ring.epoch() > rings_.back().ring->epoch(); }
  // How many rings had been seen at two moments, and may have been there by a time: where these are the same
  // for two looks at a key, so is every answer about its owners since some earlier moment.
  struct Situation {
    size_t at_first = 0;
    size_t at_last = 0;
    size_t by_time = 0;

    friend auto operator<=>(const Situation&, const Situation&) = default;
  };
  Situation situation(Step first, Step last, Time until) const;

  // In order of epochs.
  void note(const Ring& ring, Step step, Time now);

  // nullptr: nobody has been seen in that epoch.
  const Ring* find(uint64_t epoch) const;
  const Ring* newest() const { return rings_.empty() ? nullptr : rings_.back().ring.get(); }

  bool was_always_member(std::string_view node) const;

  // By every ring from then on the node was one of the key's owners.
  bool stayed(std::string_view bucket, std::string_view key, std::string_view node, Step from,
              Time until) const;

  // By the rings of that time a default quorum of each of the key's lists, the present one and the next, is
  // among these nodes.
  bool quorum_of_each_list(std::string_view bucket, std::string_view key,
                           const std::vector<std::string_view>& nodes, Step at) const;

  // Whether the newest ring has the node among the key's owners.
  bool owns_at_last(std::string_view bucket, std::string_view key, std::string_view node) const;

  // By the newest ring so many are left of the key's owners without these that they are a read quorum, and a
  // write quorum of each list.
  bool quorum_without(std::string_view bucket, std::string_view key,
                      const std::set<std::string>& nodes) const;

  // The key has had the same owners all the time, and wasn't to get others.
  bool rested(std::string_view bucket, std::string_view key, Step from, Time until) const;

  // How many owners the key's lists had, those of rings that were to come included.
  struct Copies {
    uint32_t fewest = 0;
    uint32_t most = 0;
  };
  Copies copies(std::string_view bucket, std::string_view key, Step from, Step until) const;
  // Of any list up to then, as some node that has missed all since may have it still.
  uint32_t most_copies_until(Step until) const;
  uint32_t fewest_copies() const;

 private:
  struct Seen {
    Step step;
    Time at;
    std::shared_ptr<const Ring> ring;
    Copies copies;  // of all lists
  };

  // What all rings say of one key. Checkers ask it for each write and each reading of the key.
  struct Key {
    KeyDigest digest;
    // For each ring the first one, from it on, by which the owners aren't those of that ring alone.
    std::vector<size_t> rests_until;
    // Of each node that was asked for: the first one, from a ring on, by which it is no owner.
    std::map<std::string, std::vector<size_t>, std::less<>> owns_until;
  };

  Key& key_of(std::string_view bucket, std::string_view key) const;
  std::vector<size_t> rests_until(const KeyDigest& digest) const;
  std::vector<size_t> owns_until(const KeyDigest& digest, std::string_view node) const;
  bool holds_from(const std::vector<size_t>& holds_until, Step from, Time until) const;
  std::vector<Seen>::const_iterator in_force(Step step) const;

  std::vector<Seen> rings_;
  mutable std::map<std::pair<std::string, std::string>, Key> keys_;  // of these rings
};

}  // namespace ringkv::simulation
