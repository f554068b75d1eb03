// One of each message between nodes, with every field set, and awkward values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gossip/greeting.h"
#include "node/peer_message.h"
#include "tests/node/wire_samples.h"

namespace ringkv {

inline constexpr Duration kSampleTimeout = std::chrono::milliseconds(1500);

inline PeerHello sample_hello() {
  return {1,
          2,
          {0xC1},
          {0xA1},
          {0xD1},
          {0xB1},
          7,
          "n1",
          "127.0.0.1:7401",
          "[::1]:7402",
          {0xA2},
          3,
          ~0ULL,
          PeerChannel::kRequests};
}

inline PeerWelcome sample_welcome() {
  return {{0xC1}, {0xA2}, {0xD2}, {0xB2}, 9, "n2", 3, 17, 1'700'000'000'000'000, 8};
}

inline JoinRequest sample_join() {
  return {1,   2, {0xA3}, {0xD3}, {0xB3}, "n3", "rack-b", 0.5, "h:1", "h:2", 3, 4096, PlacerKind::kHashed,
          true};
}

inline std::vector<PeerState> sample_states() {
  return {
      {{0xA1}, {0xB1}, 7, ~0ULL, "127.0.0.1:7401", "", 17, 1'700'000'000'000'000, 5, 6, 7, 8, 9, 10, 11, 12},
      {.node = {0xA2}, .given_up = {{0xA1}, {~0ULL}}},
      {}};
}

inline Record sample_record() {
  Record record;
  const Actor a{{0xA1}, {0xB1}}, b{{0xA2}, {0xB2}};
  record.context.vector.raise(a, 9);
  record.context.vector.raise(b, ~0ULL);
  record.context.highest_time = 1'700'000'000'000'000;
  record.versions = {{{a, 9},
                      VersionKind::kValue,
                      1'600'000'000'000'000,
                      1,
                      std::string("v\0\xFF", 3),
                      {5, 6},
                      Source::kHint},
                     {{b, 1}, VersionKind::kTombstone, 1, 0, "", {}, Source::kPut}};
  return record;
}

inline ReplicaGetReply reply_with_floor() {
  ReplicaGetReply reply{6, {0xA1}, {}, false, sample_record(), {1, 2}};
  reply.with_floor = true;
  reply.floor = sample_record().context.vector;
  reply.closed = {{{1}, {2}}, {{1}, {3}}};
  reply.hints = {{{0xA2}, sample_record()}};
  reply.blocked_by = {{{{1}, {2}}, 7}};
  reply.whole = false;
  return reply;
}

inline std::vector<PeerMessage> sample_peer_messages(Time now) {
  const std::string binary("\0k\xFF\n", 4);
  const Time deadline = now + kSampleTimeout;
  const auto record = std::make_shared<const std::string>("record\0bytes", 12);
  const auto empty = std::make_shared<const std::string>();
  const std::vector<HealthClaim> claims = {{{0xA1}, 7, 2, Health::kSuspect, {0xA2}},
                                           {{0xA3}, ~0ULL, ~0ULL, Health::kDown, {}}};
  const Ballot ballot{3, {0xA1}, {0xB1}}, later{~0ULL, {0xA2}, {0xB2}};
  const Voter voter{{0xA1}, {0xD1}, {0xB1}};
  const std::string digest(40, 'd');
  std::vector<PeerMessage> messages = {
      Probe{~0ULL, claims},
      Probe{},
      ProbeAck{1, {0xA2}, claims},
      ProbeRequest{2, {0xA3}, claims},
      StateDigests{{{{0xA1}, 7, 1}, {}}},
      StateDigests{},
      StateDeltas{sample_states(), {{0xA1}, {~0ULL}}},
      RingWanted{},
      RingChosen{3, 18, binary},
      Prepare{18, digest, ballot},
      Promise{18, ballot, voter, later, {}, ""},
      Promise{18, ballot, voter, ballot, later, binary},
      Accept{18, digest, ballot, binary},
      Accepted{18, ballot, voter, ballot},
      ReplicaPut{
          5, {}, "bucket", binary, record, Conflict::kLastWriterWins, Source::kTransfer, false, deadline},
      ReplicaPut{
          0, {}, "", std::string(kKeyBytesMax, 'k'), empty, Conflict::kSiblings, Source::kPut, true, now},
      ReplicaPutAck{5, {0xA1}, {}, {}},
      ReplicaPutAck{9, {0xA1}, {}, {0xA2}},
      ReplicaPutAck{~0ULL, {0xA1}, overloaded("key '\xFF': later"), {}},
      ReplicaGet{6, {}, "bucket", binary, true, true, false, deadline},
      ReplicaGet{6, {}, "bucket", binary, false, false, true, deadline},
      ReplicaGetReply{6, {0xA1}, {}, false, sample_record(), {1, ~0ULL}},
      ReplicaGetReply{6, {0xA1}, corruption("damaged"), true, {}, {}},
      ReplicaScan{7, "bucket", "prefix", binary, {0, 4095, 65535}, 100, true, true, deadline},
      ReplicaScanReply{7,
                       {0xA1},
                       {},
                       {{binary, record}, {"b", empty}, {"", record}},
                       binary,
                       true,
                       {{17, sample_record().context.vector}},
                       {{{1}, {2}}}},
      reply_with_floor(),
      HintPut{9, {0xA2}, {}, "bucket", binary, record, Conflict::kLastWriterWins, false, deadline},
      HintCovered{.intended = {0xA2}, .bucket = "bucket", .key = binary, .context = sample_record().context},
      RoundCompare{1, DigestLevel::kPair, {}},
      RoundCompare{1, DigestLevel::kPartitions, {0, 17, 65535}},
      RoundDigests{1,
                   {0xA1},
                   {},
                   DigestLevel::kGroups,
                   {0, 63},
                   {{1, 2}, {3, ~0ULL}},
                   sample_record().context,
                   17,
                   {5, 9}},
      RoundDigests{1, {0xA1}, overloaded("later"), DigestLevel::kPair, {}, {}, {}, 17, {}},
      RoundOpen{2, 17, ~0ULL},
      RoundOpen{2, 17, ~0ULL, true},
      RangesOffered{7, {0, 17, 65535}},
      RangesTaken{7, {17}},
      RoundLeaves{2,
                  {0xA1},
                  {},
                  17,
                  sample_record().context,
                  {},
                  {{{1}, {2}}, {{1}, {3}}},
                  false,
                  {{0, {{1, 2}, 3, 4}}, {255, {{5, 6}, 0, 0}}}},
      RoundLeaves{2, {0xA1}, {}, 17, sample_record().context, {}, {}, true, {}, false},
      RoundWalk{3, 17, LeafSet().set(0).set(255), binary, {}, true},
      RoundWalk{3, 17, {}, "", {binary, "b"}, false},
      RoundWalk{3, 17, {}, "", {}, true, {{0, {1, 2}}, {255, {0, 0}}}},
      RoundSlice{3,
                 {0xA1},
                 {},
                 17,
                 sample_record().context,
                 {{{1}, {2}}},
                 {{binary, {1, 2}, {{{{1}, {2}}, 3}}, record}, {"b", {3, 4}, {}, nullptr}},
                 binary,
                 true,
                 {{4, Hash128{7, 8}}, {5, {}}}}};
  for (const ClientRequest& request : sample_requests()) {
    messages.push_back(ForwardedRequest{8, {request.body, kSampleTimeout}, deadline});
  }
  for (const ClientReply& reply : sample_replies()) messages.push_back(ForwardedReply{8, reply});
  return messages;
}

}  // namespace ringkv
