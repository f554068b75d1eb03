// Whom this node has met: of each member its disk, latest boot, generation and addresses, kept on disk; and
// what a greeting comes to. "Latest" is decided here and nowhere else: a boot that was replaced by a later
// one is refused wherever it appears, whatever connection or vote it comes with.
//
// A core: no I/O. Loop thread.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/outbox.h"
#include "base/ring_description.h"
#include "gossip/greeting.h"

namespace ringkv {

inline constexpr std::string_view kPeersKey = "peers";

class PeerBook {
 public:
  struct Entry {
    NodeId node;
    DiskId disk;
    Boot boot;
    uint64_t generation = 0;
    Address peer_address;
    Address client_address;
    std::vector<Boot> earlier;  // boots that were replaced, latest first; bounded
  };

  // What a greeting comes to.
  struct Verdict {
    enum class Kind : uint8_t {
      kWelcome,  // known in this very life
      kRefuse,
      kAskFirst,  // another life of it was known: welcome only if nobody answers as that at
                  // `known.peer_address`
    };
    Kind kind = Kind::kRefuse;
    Status status;  // kRefuse: why, naming both sides and what to do
    Entry known;    // kAskFirst
  };

  explicit PeerBook(const PeerWelcome& self) : self_(self) {}  // the own identity, for checks and messages

  // As encode() made it; "" is an empty one. CORRUPTION when it is damaged.
  Status load(std::string_view bytes);
  std::string encode() const;

  // Protocol, format, cluster, membership, disk, boot, intended node: DESIGN of greetings in ARCHITECTURE.md.
  Verdict judge(const PeerHello& hello, const RingDescription& ring) const;

  // The newcomer's life is taken: stored, and every earlier one is refused from now on. The record to sync
  // before it is welcomed.
  MetaRecord accept(const PeerHello& hello);
  // Learnt by dialing: who answered there. Not for a life that is known to be over.
  std::optional<MetaRecord> accept(const PeerWelcome& welcome, const Address& peer_address);

  const Entry* find(NodeId node) const;
  const std::map<NodeId, Entry>& entries() const { return entries_; }
  bool is_over(NodeId node, Boot boot) const;  // a life that a later one has replaced

 private:
  PeerWelcome self_;
  std::map<NodeId, Entry> entries_;
};

}  // namespace ringkv
