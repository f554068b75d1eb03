// I1 to I6 of ARCHITECTURE.md, held against what clients saw of one key. The first broken promise is named.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tools/simulation/causality.h"

namespace ringkv::simulation {

class KeyChecker {
 public:
  // All are borrowed.
  KeyChecker(const KeyHistory& history, const RingFacts& ring, const DiskLosses& losses,
             const Calendar& calendar);

  std::optional<Violation> check();

 private:
  void broken(std::string_view invariant, const std::string& what);
  void check_dots();
  void check_own_writes();
  void check_values(const Reading& reading);
  void check_nothing_came_back(const Reading& reading);
  void check_nothing_was_undone();
  void check_nothing_is_missing(const Reading& reading);

  bool includes(const Reading& reading, const Write& write) const;
  bool is_discharged(const Write& write, const Reading& reading) const;
  // By steps that the answer's context covers; or by others, of a record that was let go.
  struct Search {
    std::set<const Write*> visited;
    std::set<const Write*> visited_let_go;
  };
  bool was_let_go(const Reading& reading, const Write& write) const;
  bool is_accounted_for(const Write& write, const Reading& reading, bool let_go, Search& search) const;

  const KeyHistory& history_;
  const Causality causality_;
  std::map<std::string_view, const Write*> by_value_;
  std::optional<Violation> violation_;
};

}  // namespace ringkv::simulation
