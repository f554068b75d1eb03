// A directory that turns out to be an older copy of itself: put back from a backup, or by a disk that lost
// its last days. It lacks a life that others have met. What it holds is true but not all; and what that life
// has promised as a voter is forgotten, so it must not vote again where that may have voted.
//
// Where may it have? In the epoch after its own ring's, and no other (gossip/acceptor.h). A ring that it held
// was chosen, each step on the way by a majority of voters that held the ring before. So once a majority of
// the voters, this one not among them, has said in this life which epochs they hold, the latest X among them,
// the forgotten life held at most X + 1, and voted at most about X + 2. (The voters of neighbouring epochs
// differ by one at most, so their majorities meet.) Whoever holds X + 2 votes about X + 3, and may.
//
// All that helps only where somebody can be asked: a copy from the time when this node was the only voter
// decides alone, and members that haven't met the forgotten life say nothing.
//
// With two voters that can't come about, since each needs the other: then only `ring force` helps.
//
// A core: no I/O. Loop thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/outbox.h"
#include "gossip/electorate.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr std::string_view kOlderCopyKey = "older copy";

class OlderCopy {
 public:
  // `lives`: all earlier ones that this directory remembers.
  OlderCopy(NodeId self, std::vector<Boot> lives) : self_(self), lives_(std::move(lives)) {}

  // As encode() made it; "": it was never one. CORRUPTION when it is damaged.
  Status load(std::string_view bytes);
  std::string encode() const;

  // Lives of this disk that a member has met. True when this directory lacks one, and hasn't missed it
  // before: so it was put back since. Members may remember less than the directory does; from that nothing
  // follows.
  bool on_remembered(const std::vector<Boot>& lives);

  // The member (a wiped disk of it is another voter, who speaks for nobody) has welcomed this life, and holds
  // this ring.
  void on_ring_of(const Electorate::Seat& member, uint64_t lineage, uint64_t epoch, const Electorate& ring);
  // This node holds another ring.
  void on_ring(const Electorate& ring);

  // Whether it may answer that proposer. Not before it has been welcomed there: what the proposer remembers
  // of this node may come behind its question.
  bool may_vote(NodeId proposer, const Electorate& ring) const;

  // To be put on disk before anything that relies on it: what changed since the last call.
  std::optional<MetaRecord> take_record();

 private:
  using RingOrder = std::pair<uint64_t, uint64_t>;  // lineage, epoch

  struct Heard {
    DiskId disk;
    RingOrder latest;
  };

  void look(const Electorate& ring);

  const NodeId self_;
  const std::vector<Boot> lives_;

  std::vector<Boot> lost_;    // lives that are known to be lacking
  RingOrder latest_heard_{};  // X
  bool is_known_ = false;     // a majority was heard: that is X, and doesn't grow any more
  bool changed_ = false;

  std::map<NodeId, Heard> heard_;  // in this life: what each has said last
};

}  // namespace ringkv
