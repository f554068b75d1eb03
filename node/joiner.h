// Becoming a member: asks one seed after another to be taken into the ring, until one does, one says why not,
// or time is up.
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
    Time until;
  };
  using Done = std::function<void(JoinAnswer)>;

  // `done` is called once, from on_tick or an event, never from within start().
  Joiner(PeerLinks& links, Log& log, Settings settings, Done done);
  ~Joiner();

  void start(Time now) { ask_next(now); }
  void on_tick(Time now);

  const JoinRequest& request() const { return settings_.request; }

 private:
  void ask_next(Time now);
  void on_answer(const Address& seed, JoinAnswer answer);
  Status nobody_answered() const;

  PeerLinks& links_;
  Log& log_;
  const Settings settings_;
  Done done_;
  size_t next_seed_ = 0;
  bool asking_ = false;
  Time ask_at_{};
  std::map<Address, std::string> failures_;  // the last of each seed
  const std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace ringkv
