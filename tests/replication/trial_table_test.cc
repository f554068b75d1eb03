#include "replication/trial_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/replication/placement_measure.h"

namespace ringkv {
namespace {

struct Recomputed {
  std::vector<int64_t> load;
  int64_t moved = 0;
};

// What preference_lists says of the same owners. A partition of nobody is left out of every walk, as if the
// next owner had it.
Recomputed recompute(std::vector<uint32_t> owners, const std::vector<Member>& members, uint32_t copies,
                     const std::vector<uint32_t>& lists_before) {
  const size_t size = owners.size();
  for (size_t i = 2 * size; i-- > 0;) {
    if (owners[i % size] == TrialTable::kNobody) owners[i % size] = owners[(i + 1) % size];
  }
  const auto lists = preference_lists(OwnerTable(owners.begin(), owners.end()), members, copies);
  Recomputed result{.load = std::vector<int64_t>(members.size(), 0)};
  const size_t list_size = lists.size() / size;
  for (size_t i = 0; i < lists.size(); ++i) {
    ++result.load[lists[i]];
    const auto before = lists_before.begin() + static_cast<std::ptrdiff_t>(i / list_size * copies);
    result.moved += std::find(before, before + copies, lists[i]) == before + copies ? 1 : 0;
  }
  return result;
}

// Evaluating a change going back from its partition gives what rebuilding all lists gives.
TEST(TrialTable, EffectsEqualThoseOfRebuiltLists) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto count = static_cast<uint32_t>(4 + random() % 8);
    const auto copies = static_cast<uint32_t>(1 + random() % 4);
    std::vector<Member> members;
    std::vector<std::string_view> racks;
    for (uint32_t i = 0; i < count; ++i) members.push_back(node(i + 1, rack_name(random() % 4)));
    for (const Member& member : members) racks.push_back(member.rack);
    std::vector<uint32_t> owners(64);
    for (uint32_t i = 0; i < 64; ++i)
      owners[i] = i < 2 * count ? i % count : static_cast<uint32_t>(random() % count);
    std::shuffle(owners.begin(), owners.end(), random);
    const auto lists = preference_lists(OwnerTable(owners.begin(), owners.end()), members, copies);
    const std::vector<uint32_t> before(lists.begin(), lists.end());
    for (int i = 0; i < 5; ++i) {
      uint32_t& owner = owners[random() % 64];
      if (std::count(owners.begin(), owners.end(), owner) > 1) owner = TrialTable::kNobody;
    }
    const std::vector<uint32_t> rack_of = number_racks(racks);
    TrialTable table(
        {.rack_of = rack_of,
         .targets = target_loads({.rack_of = rack_of, .weights = std::vector<double>(count, 1)}, 64, copies),
         .allowances = std::vector<int64_t>(count, 0),
         .lists_before = before},
        owners);

    for (int step = 0; step < 60; ++step) {
      const TrialTable::Change change{static_cast<uint32_t>(random() % 64),
                                      static_cast<uint32_t>(random() % count)};
      if (!table.allows(change)) continue;
      const Recomputed now = recompute(owners, members, copies, before);
      owners[change.partition] = change.owner;
      const Recomputed next = recompute(owners, members, copies, before);

      const TrialTable::Effect effect = table.effect_of(change);
      ASSERT_EQ(effect.moved, next.moved - now.moved);
      ASSERT_EQ(effect.gained, next.load[change.owner] - now.load[change.owner]);
      table.apply(change);
      for (uint32_t i = 0; i < count; ++i)
        ASSERT_EQ(table.excess(i), next.load[i] * kLoadUnitsPerCopy - table.target(i));
    }
    EXPECT_EQ(table.owners(), owners);
  }
}

// What an effect promises is what its opposite takes back.
TEST(TrialTable, AChangeAndItsOppositeCancelOut) {
  const std::vector<uint32_t> rack_of(4, 0);
  std::vector<uint32_t> owners;
  for (uint32_t i = 0; i < 32; ++i) owners.push_back(i * 7 % 11 % 4);
  TrialTable table({.rack_of = rack_of,
                    .targets = target_loads({.rack_of = rack_of, .weights = {1, 2, 1, 0.5}}, 32, 2),
                    .allowances = {0, 3, 0, 1},
                    .lists_before = {}},
                   owners);
  for (uint32_t partition = 0; partition < 32; ++partition) {
    const TrialTable::Change change{partition, (owners[partition] + 1) % 4};
    const TrialTable::Effect there = table.effect_of(change);
    table.apply(change);
    const TrialTable::Effect back = table.effect_of({partition, owners[partition]});
    EXPECT_EQ(there.imbalance, -back.imbalance);
    EXPECT_EQ(there.moved, -back.moved);
    EXPECT_EQ(there.needless, -back.needless);
    table.apply({partition, owners[partition]});
  }
}

// Equal weights and no rack that binds: equal targets. A rack of one node: a copy of everything.
TEST(TargetLoads, AreEvenWithinTheRackRule) {
  const TargetLoads even = target_loads({.rack_of = {0, 0, 0, 0}, .weights = {1, 1, 1, 1}}, 64, 3);
  for (const int64_t load : even.load) EXPECT_NEAR(static_cast<double>(load), 48 * kLoadUnitsPerCopy, 1);

  const TargetLoads lopsided = target_loads({.rack_of = {0, 0, 1, 2}, .weights = {1, 3, 1, 9}}, 64, 3);
  EXPECT_NEAR(static_cast<double>(lopsided.load[0]), 16 * kLoadUnitsPerCopy, 1);
  EXPECT_NEAR(static_cast<double>(lopsided.load[1]), 48 * kLoadUnitsPerCopy, 1);
  EXPECT_EQ(lopsided.load[2], 64 * kLoadUnitsPerCopy);
  EXPECT_EQ(lopsided.load[3], 64 * kLoadUnitsPerCopy);
}

}  // namespace
}  // namespace ringkv
