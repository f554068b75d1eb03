#include "tests/bench/bare/rocksdb_alone.h"

#include <random>
#include <thread>
#include <vector>

#include "tests/bench/bare/bare_protocol.h"
#include "tests/bench/bare/bare_store.h"

namespace ringkv::bare {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kWarmUp{1};

rocksdb::Status call(rocksdb::DB& store, const tools::BenchSettings& settings, const std::string& key,
                     std::string& value) {
  if (settings.workload == tools::Workload::kGet) return store.Get(rocksdb::ReadOptions(), key, &value);
  rocksdb::WriteOptions options;
  options.sync = settings.durability == Durability::kSynced;
  return store.Put(options, key, value);
}

tools::Tally run_thread(rocksdb::DB& store, const tools::BenchSettings& settings, uint32_t number,
                        Clock::time_point from) {
  const BareProtocol keys;
  std::mt19937_64 random(number + 1);
  std::string value(settings.value_bytes, 'v');
  tools::Tally tally;
  for (Clock::time_point start = Clock::now(); start < from + settings.duration;) {
    const rocksdb::Status status = call(store, settings, keys.key_of(random() % settings.keys), value);
    const Clock::time_point end = Clock::now();
    const auto took = std::chrono::duration_cast<std::chrono::microseconds>(end - start);
    const Status outcome = status.ok() || status.IsNotFound() ? Status() : unavailable(status.ToString());
    if (end >= from)
      tally.count(outcome, static_cast<uint64_t>(took.count()), status.IsNotFound(),
                  end < from + settings.duration);
    start = end;
  }
  return tally;
}

}  // namespace

tools::Measurement run_rocksdb_alone(const tools::BenchSettings& settings, uint32_t threads,
                                     const std::string& directory) {
  const std::unique_ptr<rocksdb::DB> store = open_store(directory);
  const BareProtocol keys;
  const std::string value(settings.value_bytes, 'v');
  if (settings.workload == tools::Workload::kGet) {
    for (uint64_t key = 0; key < settings.keys; ++key) {
      if (!store->Put(rocksdb::WriteOptions(), keys.key_of(key), value).ok()) std::abort();
    }
  }
  std::vector<tools::Tally> tallies(threads);
  std::vector<std::thread> running;
  const Clock::time_point from = Clock::now() + kWarmUp;
  for (uint32_t i = 0; i < threads; ++i)
    running.emplace_back([&, i] { tallies[i] = run_thread(*store, settings, i, from); });
  for (std::thread& thread : running) thread.join();
  tools::Measurement measurement{.tally = {},
                                 .seconds = std::chrono::duration<double>(settings.duration).count()};
  for (const tools::Tally& tally : tallies) measurement.tally.add(tally);
  return measurement;
}

}  // namespace ringkv::bare
