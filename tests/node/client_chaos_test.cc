// Three nodes that cut connections, fall silent, refuse, forget and grow slow, at random: whatever they do,
// each request is answered once, by its deadline, with an answer to itself; writes of one key never overlap,
// and what is repeated says so.
#include <map>

#include "node/client_pool.h"
#include "tests/node/client_ring_transcript.h"

namespace ringkv {
namespace {

class Chaos : public ClientRingTranscript {
 protected:
  static constexpr Duration kTick = milliseconds(10);

  struct Late {
    Time at;
    ConnectionId connection;
    uint64_t number;
    ClientReply reply;
  };
  struct Node {
    Time silent_until{};
    bool refuses = false;  // connections
    uint64_t lives = 0;
  };

  void run(uint64_t seed) {
    seed_ = seed;
    dice_.emplace(seed);
    random = SeededRandom(seed + 1000);
    transport = {};
    replies.clear();
    late_.clear();
    welcomed_.clear();
    writes_.clear();
    begun_.clear();
    nodes_.assign(3, Node());
    make(
        {.nodes = {"n1:1", "n2:1"}, .requests_max = 100, .connections = 1 + static_cast<uint32_t>(seed % 2)});
    for (int i = 0; i < 1500; ++i) tick(i < 1000);
    for (size_t i = 0; i < replies.size(); ++i) EXPECT_TRUE(replies[i].has_value()) << "seed " << seed_;
  }

  void tick(bool troubled) {
    if (troubled) {
      make_trouble();
      submit_something();
    }
    for (size_t i = 0; i < transport.dialed.size(); ++i) {
      talking_to = i + 1;
      if (transport.open.contains(talking_to)) play(node_of(talking_to));
    }
    for (auto at = late_.begin(); at != late_.end();) {
      if (at->at > clock.now() || nodes_[node_of(at->connection)].silent_until > clock.now()) {
        ++at;
        continue;
      }
      const Late late = *at;
      at = late_.erase(at);
      if (!transport.open.contains(late.connection)) continue;
      std::string bytes;
      codec.encode(late.reply, late.number, bytes);
      pool->on_bytes(late.connection, bytes);
    }
    pass(kTick);
  }

  size_t node_of(ConnectionId connection) const {
    return static_cast<size_t>(transport.dialed[connection - 1][1] - '1');
  }
  Boot boot_now(size_t node) const { return Boot{100 * (node + 1) + nodes_[node].lives}; }

  void make_trouble() {
    Node& node = nodes_[dice_->below(3)];
    if (dice_->one_in(60))
      node.silent_until = clock.now() + milliseconds(static_cast<int>(dice_->below(4000)));
    if (dice_->one_in(40)) node.refuses = !node.refuses;
    if (dice_->one_in(80)) ++node.lives;
    if (dice_->one_in(100)) {
      ring.epoch = ++epoch;
      std::rotate(ring.owners.begin(), ring.owners.begin() + 1, ring.owners.end());
    }
    if (!transport.open.empty() && dice_->one_in(25)) {
      auto victim = transport.open.begin();
      std::advance(victim, dice_->below(transport.open.size()));
      talking_to = victim->first;
      break_connection();
    }
  }

  void submit_something() {
    if (dice_->one_in(3)) return;
    const std::string key = "k" + std::to_string(dice_->below(6));
    const Duration timeout = milliseconds(50) + milliseconds(static_cast<int>(dice_->below(2900)));
    const Time by = clock.now() + timeout + 2 * kTick;
    const size_t index = replies.size();
    replies.emplace_back();
    ClientRequest request{ClientGet{"", key, 0, true}, timeout};
    if (dice_->one_in(2)) {
      request.body = ClientPut{.key = key, .value = std::to_string(index)};
      writes_[key].push_back(index);
    }
    pool->submit(std::move(request), [this, index, key, by](ClientReply reply) {
      EXPECT_FALSE(replies[index].has_value()) << "answered twice, seed " << seed_;
      EXPECT_LE(clock.now(), by) << "seed " << seed_;
      if (const auto* got = std::get_if<GetResult>(&reply.body)) {
        EXPECT_EQ(got->values[0], key) << "another's answer, seed " << seed_;
      }
      if (const auto* receipt = std::get_if<PutReceipt>(&reply.body)) {
        EXPECT_EQ(receipt->acks[0].node, std::to_string(index)) << "another's answer, seed " << seed_;
      }
      replies[index] = std::move(reply);
    });
  }

  void play(size_t index) {
    const Node& node = nodes_[index];
    if (node.silent_until > clock.now()) return;
    if (!welcomed_.contains(talking_to)) {
      if (node.refuses) return fail_connect();
      welcomed_.insert(talking_to);
      return welcome(boot_now(index), kCluster, kProtocolVersion, NodeId{index + 1});
    }
    for (const Sent& request : sent()) take(index, request);
    for (const uint64_t number : std::exchange(asked_when_quiet, {}))
      reply_later(number, {{}, std::vector<BucketInfo>{}, epoch, boot_now(index), ""});
  }

  void take(size_t index, const Sent& request) {
    const Boot boot = boot_now(index);
    ClientReply reply{{}, {}, epoch, boot, ""};
    if (std::holds_alternative<ClientRouting>(request.request.body)) reply.body = table();
    if (const auto* get = std::get_if<ClientGet>(&request.request.body))
      reply.body = GetResult{{get->key}, {}, epoch, false};
    if (const auto* put = std::get_if<ClientPut>(&request.request.body)) {
      take_put(*put);
      reply.body = PutReceipt{epoch, {}, {{put->value, Acknowledgement::Kind::kSynced, ""}}, ""};
    }
    const Status refusals[] = {overloaded("busy"), unavailable("no quorum"), unknown_outcome("who knows"),
                               Status(StatusCode::kStaleEpoch, "old")};
    if (dice_->one_in(6)) {
      reply.status = refusals[dice_->below(4)];
      reply.body = {};
    }
    if (dice_->one_in(50)) return;  // never answered
    reply_later(request.number, std::move(reply));
  }

  void take_put(const ClientPut& put) {
    ++puts_;
    const size_t index = std::stoul(put.value);
    for (const size_t earlier : writes_[put.key]) {
      EXPECT_TRUE(earlier >= index || replies[earlier].has_value())
          << "a write comes before the end of the one before it, seed " << seed_;
    }
    if (put.first_tried) return void(++repetitions_);
    EXPECT_TRUE(begun_.insert(put.operation).second) << "an operation begins twice, seed " << seed_;
  }

  void reply_later(uint64_t number, ClientReply reply) {
    const Duration delay = dice_->one_in(10) ? milliseconds(static_cast<int>(dice_->below(2000)))
                                             : milliseconds(static_cast<int>(dice_->below(30)));
    late_.push_back({clock.now() + delay, talking_to, number, std::move(reply)});
  }

  uint64_t seed_ = 0;
  std::optional<SeededRandom> dice_;
  std::vector<Node> nodes_ = std::vector<Node>(3);
  std::set<ConnectionId> welcomed_;
  std::vector<Late> late_;
  std::map<std::string, std::vector<size_t>> writes_;  // by key
  std::set<OperationId> begun_;
  size_t puts_ = 0;
  size_t repetitions_ = 0;
};

TEST_F(Chaos, EveryRequestIsAnsweredOnceByItsDeadlineWithItsOwnAnswer) {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    run(seed);
    if (HasFailure()) return;
  }
  EXPECT_GT(puts_, 10'000U);
  EXPECT_GT(repetitions_, 500U);
}

}  // namespace
}  // namespace ringkv
