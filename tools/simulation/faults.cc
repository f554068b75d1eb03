#include "tools/simulation/faults.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <utility>

#include "base/check.h"
#include "base/text.h"

namespace ringkv::simulation {
namespace {

using std::chrono::seconds;

using Share = double Faults::*;

struct NamedShare {
  std::string_view name;
  Share field;
  double usual;
};
constexpr NamedShare kShares[] = {
    {"delay", &Faults::delayed, 0.02},      {"loss", &Faults::lost, 0.01},
    {"reorder", &Faults::reordered, 0.1},   {"reset", &Faults::reset, 0.002},
    {"silence", &Faults::silenced, 0.0005}, {"half", &Faults::half_open, 0.0005},
    {"drip", &Faults::dripping, 0.0002},    {"slow", &Faults::slow_work, 0.01},
    {"miss", &Faults::cache_miss, 0.3},     {"torn", &Faults::torn, 0.3},
};

struct NamedInterval {
  std::string_view name;
  FaultInterval field;
  Duration usual;
};
constexpr NamedInterval kIntervals[] = {
    {"partition", &Faults::partition, seconds(30)}, {"cut", &Faults::cut, seconds(10)},
    {"latency", &Faults::latency, seconds(10)},     {"swizzle", &Faults::swizzle, seconds(60)},
    {"freeze", &Faults::freeze, seconds(60)},       {"move", &Faults::move, seconds(60)},
    {"kill", &Faults::kill, seconds(30)},           {"power", &Faults::power_cut, seconds(40)},
    {"stop", &Faults::stop, seconds(60)},           {"disk", &Faults::disk_error, seconds(30)},
    {"space", &Faults::low_space, seconds(60)},     {"swap", &Faults::swap, seconds(200)},
    {"crawl", &Faults::slow_disk, seconds(100)},    {"clock", &Faults::clock_jump, seconds(30)},
    {"drift", &Faults::clock_drift, seconds(60)},   {"still", &Faults::clock_still, seconds(100)},
    {"date", &Faults::lost_date, seconds(150)},

    {"day", &Faults::wrong_day, seconds(150)},      {"absence", &Faults::absence, seconds(200)},
    {"sleep", &Faults::sleep, seconds(200)},        {"wipe", &Faults::wipe, seconds(300)},
    {"restore", &Faults::restore, seconds(150)},    {"gone", &Faults::gone, seconds(300)},
    {"damage", &Faults::damage, seconds(150)},      {"flip", &Faults::flip, seconds(100)},
    {"members", &Faults::members, seconds(10)},     {"aim", &Faults::aimed, seconds(10)},
};

bool switch_on(Faults& faults, std::string_view name) {
  bool known = name == "all";
  for (const NamedShare& share : kShares) {
    if (name != share.name && name != "all") continue;
    faults.*share.field = share.usual;
    known = true;
  }
  for (const NamedInterval& interval : kIntervals) {
    if (name != interval.name && name != "all") continue;
    faults.*interval.field = interval.usual;
    known = true;
  }
  return known;
}

}  // namespace

std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const NamedShare& share : kShares) names.emplace_back(share.name);
  for (const NamedInterval& interval : kIntervals) names.emplace_back(interval.name);
  return names;
}

std::string_view name_of(FaultInterval fault) {
  const auto named = std::find_if(std::begin(kIntervals), std::end(kIntervals),
                                  [fault](const NamedInterval& one) { return one.field == fault; });
  CHECK(named != std::end(kIntervals));
  return named->name;
}

Result<Faults> faults_from(std::string_view list) {
  Faults faults;
  if (list == "none") return faults;
  std::istringstream words{std::string(list)};
  for (std::string word; std::getline(words, word, ',');) {
    if (switch_on(faults, word)) continue;
    std::vector<std::string> names = fault_names();
    names.insert(names.end(), {"all", "none"});
    const auto meant = nearest(word, names);
    return invalid_argument(
        cat("there is no fault '", escaped(word), "'", meant ? cat("; did you mean ", *meant, "?") : ""));
  }
  return faults;
}

Faults drawn(const Faults& allowed, Random& random) {
  Faults faults = allowed;
  const auto factor = [&random]() -> uint64_t {  // in halves of the usual rate
    return random.one_in(2) ? 0 : (random.one_in(2) ? 1 : 4);
  };
  for (const NamedShare& share : kShares) faults.*share.field *= static_cast<double>(factor()) / 2;
  for (const NamedInterval& interval : kIntervals) {
    const uint64_t often = factor();
    Duration& apart = faults.*interval.field;
    apart = often == 0 ? Duration::zero() : apart * 2 / static_cast<int64_t>(often);
  }
  return faults;
}

}  // namespace ringkv::simulation
