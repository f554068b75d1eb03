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

inline constexpr size_t kPeersMax = size_t{2} * kMembersMax;  // members, and those that were or will be
inline constexpr size_t kEarlierBootsMax = 16;                // remembered of each

class PeerBook {
 public:
  struct Entry {
    NodeId node;
    DiskId disk;
    Boot boot;
    uint64_t generation = 0;  // the highest that was met
    Address peer_address;
    Address client_address;
    std::vector<Boot> earlier;  // boots that were replaced, latest first; at most kEarlierBootsMax
    uint32_t earlier_of_disk =
        0;  // so many of those, from the first on, were of the same disk as the present one

    friend bool operator==(const Entry&, const Entry&) = default;
  };

  // What a greeting comes to.
  struct Verdict {
    enum class Kind : uint8_t {
      kWelcome,  // known in this very life, or never met
      kRefuse,
      kAskFirst,  // another life of it was known: welcome only if nobody answers as that at
                  // `known.peer_address`
    };
    Kind kind = Kind::kRefuse;
    Status status;  // kRefuse: why, naming both sides and what to do
    Entry known;    // kAskFirst
  };

  // The own identity and versions, for checks and messages.
  PeerBook(const PeerWelcome& self, const PeerVersions& versions) : self_(self), versions_(versions) {}

  // As encode() made it; "" is an empty one. CORRUPTION when it is damaged.
  Status load(std::string_view bytes);
  std::string encode() const;

  // Checked in this order: versions, intended node, ourselves, cluster, membership and disk, boot. Who means
  // another node is only told so, whatever cluster took over that address: to be FORBIDDEN ends a life.
  //
  // A node that the ring doesn't name(), but whose own ring is later, is welcome on kControl alone, to bring
  // us that ring; accept() is not for it. Who only asks who is there (kIdentify) is told, whatever is known
  // of him: a refusal would read as silence and give our life away, and two nodes that both asked first would
  // ask for ever.
  Verdict judge(const PeerHello& hello, const RingDescription& ring) const;
  // The member, with this disk.
  static bool names(const RingDescription& ring, NodeId node, DiskId disk);

  // The newcomer's life is taken: stored, and every earlier one is refused from now on. The record to sync
  // before it is welcomed. Judge again where asking took time: for a life that is over by now nothing
  // changes, nor for one that only asks (kIdentify).
  MetaRecord accept(const PeerHello& hello);
  // Learnt by dialing: who answered there. Nothing where that tells nothing new. Another life than the known
  // one is believed only at the known one's own address, where that would have answered; at another address
  // it has to greet, so that the known one is asked.
  std::optional<MetaRecord> accept(const PeerWelcome& welcome, const Address& peer_address);

  // What who greets is to be told of its earlier lives, whether its present one has been taken already or
  // not.
  struct Remembered {
    uint64_t generation = 0;  // the highest that was met of another life; 0: none
    std::vector<Boot> boots;  // other lives of this disk that were met, latest first
  };
  Remembered remembered(const PeerHello& hello) const;

  // Forgets all that the ring doesn't name.
  std::optional<MetaRecord> keep_members(const RingDescription& ring);

  const Entry* find(NodeId node) const;
  const std::map<NodeId, Entry>& entries() const { return entries_; }
  bool is_over(NodeId node, Boot boot) const;  // a life that a later one has replaced

 private:
  // Who greets, with names: for messages.
  struct Greeter {
    const PeerHello& hello;
    const RingDescription& ring;

    std::string to_text() const;
    bool has_later_ring() const;
  };

  Status check_versions(const Greeter& greeter) const;
  Status check_cluster(const Greeter& greeter) const;
  Status check_self(const Greeter& greeter) const;
  Status check_member(const Greeter& greeter) const;
  Status check_not_lost(const Greeter& greeter, const Member& member) const;
  Verdict judge_boot(const Greeter& greeter) const;
  MetaRecord record() const;

  PeerWelcome self_;
  PeerVersions versions_;
  std::map<NodeId, Entry> entries_;
};

}  // namespace ringkv
