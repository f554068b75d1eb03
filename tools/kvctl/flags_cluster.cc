#include <algorithm>
#include <string>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/verb_flags.h"

namespace ringkv::tools {
namespace {

constexpr std::chrono::milliseconds kWaitTimeoutDefault{60'000};
constexpr std::chrono::milliseconds kWorkTimeoutDefault{600'000};
// "100" milliseconds, or a duration with its unit.
std::chrono::milliseconds delay_of(const std::string& text) {
  const bool bare = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  const Result<std::chrono::milliseconds> delay = parse_duration(bare ? text + "ms" : text);
  if (!delay.ok()) throw CLI::ValidationError("MS", "'" + escaped(text) + "' isn't a number of milliseconds");
  return *delay;
}

// "+5", "-2.5", "0": seconds; or a duration with its unit, "-10d".
std::chrono::milliseconds offset_of(const std::string& text) {
  const bool negative = text.starts_with('-');
  const std::string size = text.substr(negative || text.starts_with('+') ? 1 : 0);
  const bool bare = !size.empty() && size.find_first_not_of("0123456789.") == std::string::npos;
  const Result<std::chrono::milliseconds> offset = parse_duration(bare ? size + "s" : size);
  if (!offset.ok())
    throw CLI::ValidationError("SECONDS", "'" + escaped(text) + "' isn't a number of seconds, like +5 or -5");
  return negative ? -*offset : *offset;
}

}  // namespace

void CommandLine::add_inspection() {
  CLI::App& local =
      verb(app_, "local-get", "What one replica holds of a key", "kvctl local-get n1 greeting --json");
  add_words(local, {{"NODE", "The member's name"}, key_word()});
  when_given(local, [this, &local]() -> Verb {
    const auto typed = words(local);
    return LocalGetVerb{typed[0], typed[1]};
  });

  CLI::App& explain =
      verb(app_, "explain", "Where a key lives, and what each replica holds of it", "kvctl explain greeting");
  add_words(explain, {key_word()});
  when_given(explain, [this, &explain]() -> Verb { return ExplainVerb{words(explain)[0]}; });

  CLI::App& status = verb(app_, "status", "The members and how they are", "kvctl status -v");
  status.add_flag("-v", status_.verbose,
                  "With hints' bytes, clocks, partitions to refill, epochs and addresses");
  when_given(status, [this, &status]() -> Verb {
    (void)words(status);
    return status_;
  });

  add_ring();

  CLI::App& stats = verb(app_, "stats", "Counters and latencies of a node, as JSON", "kvctl stats n1");
  add_words(stats, {{"NAME", "The member's name (default the one asked)", true}});
  stats.add_flag("--reset-latencies", stats_.reset_latencies, "Begin latencies afresh after this");
  when_given(stats, [this, &stats]() -> Verb {
    const auto typed = words(stats);
    if (!typed.empty()) stats_.node = typed[0];
    return stats_;
  });
}

void CommandLine::add_ring() {
  CLI::App& ring = verb(app_, "ring", "The ring's description", "kvctl ring --owners --json");
  ring.require_subcommand(0);  // it stands alone too
  ring.add_flag("--owners", ring_.owners, "With the owner of each partition");

  CLI::App& force =
      verb(ring, "force",
           "For disasters: a majority of the voters is gone for good, and those that are left go "
           "on without them. Says what that comes to; with --yes it is done. What only the lost "
           "had is lost, and their disks never come back; `kvctl plan leave` then moves what is "
           "left",
           "kvctl ring force --lost n3,n4,n5; kvctl ring force --lost n3,n4,n5 --yes");
  force.add_option("--lost", lost_, "All members that are gone")->type_name("NAME[,NAME...]");
  force.add_flag("--yes", force_yes_, "Do it");
  when_given(force, [this, &force]() -> Verb {
    (void)words(force);
    if (lost_.empty()) throw CLI::RequiredError("--lost");
    ForceRingVerb verb{{}, force_yes_};
    for (size_t begin = 0; begin <= lost_.size();) {
      const size_t end = std::min(lost_.find(',', begin), lost_.size());
      verb.lost.push_back(lost_.substr(begin, end - begin));
      begin = end + 1;
    }
    return verb;
  });
  // Behind its own verbs: it has been given with each of them.
  when_given(ring, [this, &ring]() -> Verb {
    (void)words(ring);
    return ring_;
  });
}

void CommandLine::add_buckets() {
  CLI::App& bucket =
      verb(app_, "bucket", "Makes, changes and lists buckets", "kvctl bucket create sessions --ttl 30m");
  bucket.require_subcommand(0, 1);

  CLI::App& create =
      verb(bucket, "create", "Makes a bucket", "kvctl bucket create sessions --conflict lww --ttl 30m");
  add_words(create, {{"NAME", "The bucket's name: 1 to 64 of A-Z a-z 0-9 . _ -"}});
  create.add_option("--conflict", bucket_.conflict, "What concurrent puts leave behind (default siblings)")
      ->check(CLI::IsMember({"siblings", "lww"}))
      ->type_name("siblings|lww");
  create.add_option("--r", bucket_.r, "Answers that a get waits for")->type_name("N");
  create.add_option("--w", bucket_.w, "Acknowledgements that a put waits for")->type_name("N");
  add_duration(create, "--ttl", bucket_ttl_, "Values expire after this");
  when_given(create, [this, &create]() -> Verb {
    bucket_.name = words(create)[0];
    if (bucket_ttl_) bucket_.ttl_ms = static_cast<uint64_t>(bucket_ttl_->count());
    return CreateBucketVerb{bucket_};
  });

  CLI::App& set = verb(bucket, "set", "Changes a bucket", "kvctl bucket set sessions --w 3");
  add_words(set, {{"NAME", "The bucket's name"}});
  set.add_option("--r", change_.change.r, "Answers that a get waits for")->type_name("N");
  set.add_option("--w", change_.change.w, "Acknowledgements that a put waits for")->type_name("N");
  add_duration(set, "--ttl", bucket_ttl_, "Values put from now on expire after this");
  when_given(set, [this, &set]() -> Verb {
    change_.name = words(set)[0];
    if (bucket_ttl_) change_.change.ttl_ms = static_cast<uint64_t>(bucket_ttl_->count());
    return change_;
  });

  CLI::App& list = verb(bucket, "list", "Lists the buckets", "kvctl bucket list");
  when_given(list, [this, &list]() -> Verb {
    (void)words(list);
    return ListBucketsVerb{};
  });
}

void CommandLine::add_faults() {
  CLI::App& fault =
      verb(app_, "fault", "Disturbs nodes that were started with --enable-faults: their traffic, or a clock",
           "kvctl fault drop n1 n2; kvctl fault heal");
  fault.require_subcommand(0, 1);
  const std::vector<Word> pair = {{"A", "A member's name"}, {"B", "Another one's"}};

  CLI::App& drop = verb(fault, "drop", "Nothing gets through between two members any more, either way",
                        "kvctl fault drop n1 n2");
  add_words(drop, pair);
  when_given(drop, [this, &drop]() -> Verb {
    const auto typed = words(drop);
    return DropTrafficVerb{typed[0], typed[1]};
  });

  CLI::App& delay = verb(fault, "delay", "What goes between two members arrives later, either way",
                         "kvctl fault delay n1 n2 200");
  add_words(delay, {pair[0], pair[1], {"MS", "Milliseconds each way"}});
  when_given(delay, [this, &delay]() -> Verb {
    const auto typed = words(delay);
    return DelayTrafficVerb{typed[0], typed[1], delay_of(typed[2])};
  });

  CLI::App& clock =
      verb(fault, "clock", "A member's clock goes wrong by so much, from then on; 0 puts it right",
           "kvctl fault clock n2 +864000; kvctl fault clock n2 0");
  add_words(clock, {{"NODE", "The member's name"}, {"SECONDS", "+S: it is fast; -S: it is slow"}});
  when_given(clock, [this, &clock]() -> Verb {
    const auto typed = words(clock);
    return SkewClockVerb{typed[0], offset_of(typed[1])};
  });

  CLI::App& heal =
      verb(fault, "heal", "Ends all drops and delays, at every member that answers", "kvctl fault heal");
  when_given(heal, [this, &heal]() -> Verb {
    (void)words(heal);
    return HealTrafficVerb{};
  });
}

}  // namespace ringkv::tools
