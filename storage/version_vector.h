// A version vector: for each actor, all events up to a counter (Dynamo paper, section 4.4, "vector clock";
// with one entry an actor, Almeida et al., "Dotted version vectors", 2012).
#pragma once

#include <cstdint>
#include <vector>

#include "base/ids.h"

namespace ringkv {

class VersionVector {
 public:
  struct Entry {
    Actor actor;
    uint64_t counter = 0;  // > 0

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  bool covers(const Dot& dot) const { return counter_of(dot.actor) >= dot.counter; }
  bool covers(const VersionVector& other) const;

  uint64_t counter_of(const Actor& actor) const;  // 0: nothing of this actor

  void raise(const Actor& actor, uint64_t counter);  // to at least `counter`; 0 does nothing
  void join(const VersionVector& other);

  // Drops every entry for which `drop(entry)` is true.
  template <class Predicate>
  void erase_if(Predicate drop) {
    std::erase_if(entries_, drop);
  }

  const std::vector<Entry>& entries() const { return entries_; }  // in order of actor
  bool empty() const { return entries_.empty(); }

  friend bool operator==(const VersionVector&, const VersionVector&) = default;

 private:
  std::vector<Entry> entries_;
};

}  // namespace ringkv
