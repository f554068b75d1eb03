// What it costs to say a request, and to understand it.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "node/frame.h"
#include "node/peer_codec.h"
#include "node/wire_codec.h"

namespace ringkv {
namespace {

constexpr uint64_t kEpoch = 7;
constexpr SenderRing kRing{0, kEpoch};
constexpr Time kNow{std::chrono::hours(1)};

ClientRequest a_put() {
  ClientPut put;
  put.key = "bench:123456";
  put.value = std::string(100, 'v');
  put.operation = {0xDA39A3EE5E6B4B0D, 17};
  return {put, std::chrono::seconds(5)};
}

PeerMessage a_replica_put() {
  return ReplicaPut{.request = 5,
                    .place = {},
                    .bucket = {},
                    .key = "bench:123456",
                    .record = std::make_shared<const std::string>(250, 'r'),
                    .deadline = kNow + std::chrono::seconds(5)};
}

Frame frame_of(const std::string& bytes) { return **read_frame(bytes, kFrameBytesMax); }

void encode_a_put(benchmark::State& state) {
  WireCodec codec;
  const ClientRequest request = a_put();
  std::string out;
  for (auto _ : state) {
    out.clear();
    if (!codec.encode(request, 1, kEpoch, out).ok()) state.SkipWithError("encode");
  }
}
BENCHMARK(encode_a_put);

void decode_a_put(benchmark::State& state) {
  WireCodec codec;
  std::string bytes;
  if (!codec.encode(a_put(), 1, kEpoch, bytes).ok()) state.SkipWithError("encode");
  for (auto _ : state) benchmark::DoNotOptimize(codec.decode_client_request(frame_of(bytes)));
}
BENCHMARK(decode_a_put);

void encode_a_replica_put(benchmark::State& state) {
  PeerCodec codec;
  const PeerMessage message = a_replica_put();
  std::string out;
  for (auto _ : state) {
    out.clear();
    if (!codec.encode(message, kRing, kNow, out).ok()) state.SkipWithError("encode");
  }
}
BENCHMARK(encode_a_replica_put);

void decode_a_replica_put(benchmark::State& state) {
  PeerCodec codec;
  std::string bytes;
  if (!codec.encode(a_replica_put(), kRing, kNow, bytes).ok()) state.SkipWithError("encode");
  for (auto _ : state) benchmark::DoNotOptimize(codec.decode(frame_of(bytes), {}, kNow));
}
BENCHMARK(decode_a_replica_put);

}  // namespace
}  // namespace ringkv
