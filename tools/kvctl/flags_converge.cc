#include <algorithm>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/verb_flags.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kWaitTimeoutDefault{60'000};
constexpr std::chrono::milliseconds kWorkTimeoutDefault{600'000};
constexpr uint64_t kRateMin = 1024;
constexpr uint64_t kRateMax = 2'000'000'000;

// "50MB", "50MB/s"; "auto" is 0.
uint64_t rate_of(std::string text) {
  if (text == "auto") return 0;
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  const Result<uint64_t> rate = parse_size(text);
  if (!rate.ok())
    throw CLI::ValidationError("RATE",
                               "'" + escaped(text) + "' is neither auto nor a size a second, like 50MB");
  if (*rate < kRateMin)
    throw CLI::ValidationError("RATE", "below 1KiB a second nothing would come to an end");
  if (*rate > kRateMax) throw CLI::ValidationError("RATE", "2GB a second is the most");
  return *rate;
}

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

  CLI::App& transfers =
      verb(app_, "transfers", "What each member takes in from others now, how far it is and how fast it may",
           "kvctl transfers --json");
  when_given(transfers, [this, &transfers]() -> Verb {
    (void)words(transfers);
    return TransfersVerb{};
  });

  CLI::App& throttle = verb(
      app_, "throttle",
      "How fast each member takes copies in from others: so many bytes a second, or auto: as fast as the "
      "requests of clients bear (the default). Holds for all members, and for those that join, until "
      "it is set again or all have been down at once; kvctl transfers shows it",
      "kvctl throttle 20MB");
  add_words(throttle, {{"RATE", "Bytes a second, like 20MB; or auto"}});
  when_given(throttle, [this, &throttle]() -> Verb { return ThrottleVerb{rate_of(words(throttle)[0])}; });

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
