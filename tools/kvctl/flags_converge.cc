#include <algorithm>

#include "tools/kvctl/verb_flags.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kWaitTimeoutDefault{60'000};
constexpr std::chrono::milliseconds kWorkTimeoutDefault{600'000};

}  // namespace

void CommandLine::add_wait() {
  CLI::App& wait =
      verb(app_, "wait", "Waits until something has become true", "kvctl wait joined --timeout 30s");
  wait.require_subcommand(0, 1);

  const auto add = [&](const std::string& name, const std::string& help, WaitVerb::For what) {
    CLI::App& waited = verb(wait, name, help, "kvctl wait " + name + " --timeout 30s");
    when_given(waited, [this, &waited, what]() -> Verb {
      (void)words(waited);
      target_.patience = timeout_.value_or(kWaitTimeoutDefault);
      target_.timeout = std::min(target_.timeout, kRequestTimeoutDefault);
      return WaitVerb{what};
    });
  };
  add("joined",
      "Exit code 0 once no member is joining or leaving, no change of the ring is under way and a "
      "majority knows the ring; 1 when not in time, naming what is missing",
      WaitVerb::For::kJoined);
  add("converged",
      "Exit code 0 once all members are up, no change of the ring is under way, no hint is left, and a "
      "comparison begun after that found every pair of copies equal; 1 when not in time, naming what is "
      "missing",
      WaitVerb::For::kConverged);
  add("hints-drained",
      "Exit code 0 once every member was asked and none keeps a hint; 1 when not in time, naming what is "
      "missing",
      WaitVerb::For::kHintsDrained);
}

// How long one member may take; what else is asked is as quick as ever.
std::chrono::milliseconds CommandLine::take_work_timeout() {
  target_.timeout = std::min(target_.timeout, kRequestTimeoutDefault);
  return timeout_.value_or(kWorkTimeoutDefault);
}

void CommandLine::add_convergence() {
  CLI::App& hints =
      verb(app_, "hints", "What each member keeps for others that could not take it", "kvctl hints --json");
  when_given(hints, [this, &hints]() -> Verb {
    (void)words(hints);
    return HintsVerb{};
  });

  CLI::App& lag = verb(app_, "lag", "How far each member has what each other one has", "kvctl lag");
  when_given(lag, [this, &lag]() -> Verb {
    (void)words(lag);
    return LagVerb{};
  });

  CLI::App& repair = verb(app_, "repair",
                          "Every member compares itself with all other owners now, and fetches what it lacks",
                          "kvctl repair --timeout 1h");
  CLI::Option* partition =
      repair.add_option("--partition", repair_.partition, "Only this one, by its owners (kvctl explain KEY)")
          ->type_name("P");
  repair
      .add_flag("--accept-loss", repair_.accept_loss,
                "Compare nothing: where too few copies are left to tell what was lost, take what is left for "
                "the whole, and list the partitions")
      ->excludes(partition);
  when_given(repair, [this, &repair]() -> Verb {
    (void)words(repair);
    repair_.timeout = take_work_timeout();
    return repair_;
  });

  CLI::App& purge =
      verb(app_, "purge", "Every member lets go now of the tombstones and expired values that nobody needs",
           "kvctl purge --json");
  when_given(purge, [this, &purge]() -> Verb {
    (void)words(purge);
    return PurgeVerb{take_work_timeout()};
  });

  CLI::App& scrub =
      verb(app_, "scrub", "Every member reads and checks all that it holds, now", "kvctl scrub --timeout 1h");
  when_given(scrub, [this, &scrub]() -> Verb {
    (void)words(scrub);
    return ScrubVerb{take_work_timeout()};
  });
}

}  // namespace ringkv::tools
