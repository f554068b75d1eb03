// One voter's part in choosing a ring: what it has promised and accepted, on disk before anybody hears of it.
// It votes about the epoch after its own ring's and no other, and only while that ring names its disk: so a
// wiped directory, which has forgotten its promises, has no vote until others have given it a new one.
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "gossip/electorate.h"
#include "gossip/messages.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr std::string_view kAcceptorKey = "acceptor";

// Larger ones are neither proposed nor accepted. (The largest ring, of 65,536 partitions and 1,000 members,
// has less than 1 MiB.)
inline constexpr size_t kDescriptionBytesMax = size_t{4} << 20;

// Ballots from the network with later rounds aren't taken: the next one would wrap around.
inline constexpr uint64_t kRoundMax = uint64_t{1} << 48;

// All that a voter must not forget. (The format is drawn in acceptor.cc.)
struct VoteRecord {
  uint64_t lineage = 0;
  uint64_t epoch = 0;   // voted about
  std::string follows;  // digest of the ring before
  Ballot promised;
  Ballot accepted;  // zero: none yet
  std::string value;

  friend bool operator==(const VoteRecord&, const VoteRecord&) = default;
};

std::string encode_vote_record(const VoteRecord& votes);
// "" is the record of one that has never voted. CORRUPTION when damaged.
Result<VoteRecord> decode_vote_record(std::string_view bytes);

class Acceptor {
 public:
  Acceptor(const Voter& self, VoteRecord votes) : self_(self), votes_(std::move(votes)) {}

  // `ring` is the one that this node holds; the sender's life has been checked.
  void on(NodeId from, const Prepare& prepare, const Electorate& ring, GossipOutbox& outbox);
  void on(NodeId from, const Accept& accept, const Electorate& ring, GossipOutbox& outbox);

 private:
  struct Instance {
    uint64_t epoch;
    std::string_view follows;
  };

  bool begin(const Instance& instance, const Electorate& ring);
  void record(GossipOutbox& outbox) const;

  const Voter self_;
  VoteRecord votes_;
};

}  // namespace ringkv
