// Becoming a member: asks one seed after another to be taken into the ring, until one does, one says why not,
// or time is up. Time stands still as long as members say that it must wait: for a plan that takes it in, or
// for another change of the ring to end.
//
// Loop thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/time.h"
#include "gossip/greeting.h"
#include "node/peer_links.h"

namespace ringkv {

class Joiner {
 public:
  struct Settings {
    JoinRequest request;
    std::vector<Address> seeds;  // not empty
    Duration patience{};         // with members that aren't heard
  };
  using Done = std::function<void(JoinAnswer)>;

  // `done` is called once, from on_tick or an event, never from within start().
  Joiner(PeerLinks& links, Log& log, Settings settings, Done done);
  ~Joiner();

  void start(Time now);
  void on_tick(Time now);

  const JoinRequest& request() const { return settings_.request; }

 private:
  void ask_next(Time now);
  void on_answer(const Address& seed, JoinAnswer answer);
  void on_heard(Time now);
  Status nobody_answered() const;

  PeerLinks& links_;
  Log& log_;
  const Settings settings_;
  Done done_;
  size_t next_seed_ = 0;
  Time until_{};
  bool asking_ = false;
  bool heard_ = false;  // since the last tick: it must wait
  Time waits_said_at_{};
  Time ask_at_{};
  std::map<Address, std::string> failures_;  // the last of each seed
  std::string waits_for_;                    // what members said last
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
