#include "tools/kvctl/flags.h"

#include <functional>

#include "ringkv/text.h"
#include "tools/common/command_line.h"

namespace ringkv::tools {
namespace {

// Declares the verbs to CLI11 and gathers what was typed.
//
// Positional arguments are taken as CLI11 holds them, unconverted: its conversions give "{}", "[…]" and "%%"
// meanings of their own, and keys and values are bytes.
class CommandLine {
 public:
  CommandLine();
  std::variant<Invocation, int> parse(int argc, const char* const* argv);

 private:
  CLI::App& verb(CLI::App& parent, const std::string& name, const std::string& help,
                 const std::string& example);
  // Sets what the verb asks for once it has been given; throws CLI::ParseError on a wrong use.
  void when_given(CLI::App& verb, std::function<Verb()> make) { makers_.push_back({&verb, std::move(make)}); }

  void add_put();
  void add_get();
  void add_delete();
  void add_exists();
  void add_scan();
  void add_load_and_dump();
  void add_inspection();
  void add_buckets();

  // Positional arguments, each named.
  void add_words(CLI::App& verb, const std::vector<std::string>& names);
  // What was typed for them, with KEY from --key-b64 in its place; the last `optional_last` may be missing.
  std::vector<std::string> words(const CLI::App& verb, size_t optional_last = 0) const;
  static void add_write_flags(CLI::App& verb, WriteFlags& write);

  CLI::App app_{"Asks the nodes of a ringkv cluster.", "kvctl"};
  Target target_;
  std::string key_base64_;
  bool key_base64_given_ = false;
  struct Maker {
    const CLI::App* verb;
    std::function<Verb()> make;
  };
  std::vector<Maker> makers_;

  // What flags of the verbs write to.
  PutVerb put_;
  GetVerb get_;
  DeleteVerb delete_;
  ExistsVerb exists_;
  ScanVerb scan_;
  LoadVerb load_;
  RingVerb ring_;
  StatsVerb stats_;
  BucketInfo bucket_;
  std::optional<std::chrono::milliseconds> bucket_ttl_;
  ChangeBucketVerb change_;
};

std::string decoded(const std::string& flag, const std::string& text) {
  std::optional<std::string> bytes = from_base64(text);
  if (!bytes) throw CLI::ValidationError(flag, "'" + escaped(text) + "' isn't base64");
  return *std::move(bytes);
}

CommandLine::CommandLine() {
  describe(app_, "kvctl put greeting hello && kvctl get greeting");
  app_.require_subcommand(0, 1);
  app_.fallthrough();
  add_nodes(app_, target_.nodes);
  add_duration(app_, "--timeout", target_.timeout, "How long one request may take (default 5s)");
  app_.add_option("--bucket", target_.bucket, "The bucket; without it the default one")->type_name("NAME");
  app_.add_flag("--json", target_.json, "Print data as JSON");
  app_.add_option_function<std::string>(
          "--key-b64",
          [this](const std::string& text) {
            key_base64_ = decoded("--key-b64", text);
            key_base64_given_ = true;
          },
          "The key in base64, in place of KEY")
      ->type_name("KEY");
  add_put();
  add_get();
  add_delete();
  add_exists();
  add_scan();
  add_load_and_dump();
  add_inspection();
  add_buckets();
}

CLI::App& CommandLine::verb(CLI::App& parent, const std::string& name, const std::string& help,
                            const std::string& example) {
  CLI::App& added = *parent.add_subcommand(name, help);
  added.fallthrough();
  describe(added, example);
  added.footer(added.get_footer() +
               "\nEvery verb also takes --node, --timeout, --bucket, --json, --key-b64: see kvctl --help");
  return added;
}

void CommandLine::add_words(CLI::App& verb, const std::vector<std::string>& names) {
  for (const std::string& name : names)
    verb.add_option_function<std::string>(name, [](const std::string&) {})->type_name("");
}

std::vector<std::string> CommandLine::words(const CLI::App& verb, size_t optional_last) const {
  std::vector<std::string> names;
  std::vector<std::string> typed;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    names.push_back(option->get_name(true));
    if (option->count() > 0) typed.push_back(as_typed(option->results().front()));
  }
  size_t key = 0;
  while (key < names.size() && names[key] != "KEY") ++key;
  if (key_base64_given_) {
    if (key == names.size()) throw CLI::ValidationError("--key-b64", verb.get_name() + " takes no key");
    if (typed.size() < key) throw CLI::RequiredError(names[typed.size()]);
    if (typed.size() == names.size())
      throw CLI::ValidationError("--key-b64", "it takes the place of KEY; give one of them");
    typed.insert(typed.begin() + static_cast<std::ptrdiff_t>(key), key_base64_);
  }
  if (typed.size() + optional_last < names.size()) throw CLI::RequiredError(names[typed.size()]);
  return typed;
}

void CommandLine::add_write_flags(CLI::App& verb, WriteFlags& write) {
  verb.add_option_function<std::string>(
          "--context",
          [&write](const std::string& text) { write.context = Context(decoded("--context", text)); },
          "Replace what was read with this context (an empty one: nothing); without it the key is read first")
      ->type_name("CONTEXT");
  verb.add_option("--w", write.w, "Acknowledgements to wait for")->type_name("N");
  add_durability(verb, "--durability", write.durability, "What an acknowledgement stands for");
  verb.add_flag("--primary", write.primary, "Count only acknowledgements of the key's owners");
  verb.add_option("--op-id", write.operation_id, "Operation id of an earlier try with an unknown outcome")
      ->type_name("ID");
  verb.add_flag("-v", write.receipt, "Print the receipt");
}

void CommandLine::add_put() {
  CLI::App& put = verb(app_, "put", "Stores a value", "kvctl put greeting hello; date | kvctl put now -");
  add_words(put, {"KEY", "VALUE"});
  put.add_option("--file", put_.file, "The value is this file's content")->type_name("FILE");
  add_write_flags(put, put_.write);
  add_duration(put, "--ttl", put_.write.ttl, "The value expires after this");
  when_given(put, [this, &put]() -> Verb {
    const auto typed = words(put, 1);
    if (typed.size() == 1 && put_.file.empty()) throw CLI::RequiredError("VALUE (or -, or --file)");
    if (typed.size() == 2 && !put_.file.empty())
      throw CLI::ValidationError("--file", "it takes the place of VALUE; give one of them");
    put_.key = typed[0];
    if (typed.size() == 2) put_.value = typed[1];
    return put_;
  });
}

void CommandLine::add_get() {
  CLI::App& get = verb(app_, "get", "Prints a value's bytes and nothing else", "kvctl get greeting --json");
  add_words(get, {"KEY"});
  get.add_option("--r", get_.r, "Answers to wait for")->type_name("N");
  when_given(get, [this, &get]() -> Verb {
    get_.key = words(get)[0];
    return get_;
  });
}

void CommandLine::add_delete() {
  CLI::App& del = verb(app_, "del", "Deletes a key; that it isn't there is no error", "kvctl del greeting");
  add_words(del, {"KEY"});
  add_write_flags(del, delete_.write);
  when_given(del, [this, &del]() -> Verb {
    delete_.key = words(del)[0];
    return delete_;
  });
}

void CommandLine::add_exists() {
  CLI::App& exists = verb(app_, "exists", "Exit code 0 when the key has a value, 1 when not",
                          "kvctl exists greeting && echo there");
  add_words(exists, {"KEY"});
  exists.add_option("--r", exists_.r, "Answers to wait for")->type_name("N");
  when_given(exists, [this, &exists]() -> Verb {
    exists_.key = words(exists)[0];
    return exists_;
  });
}

void CommandLine::add_scan() {
  CLI::App& scan = verb(app_, "scan", "Prints keys in the order of their tokens, one a line",
                        "kvctl scan --prefix user: --limit 100");
  scan.add_option("--prefix", scan_.prefix, "Only keys that begin with this")->type_name("P");
  scan.add_option("--limit", scan_.limit, "At most so many keys; then a cursor on standard error")
      ->type_name("N");
  scan.add_option_function<std::string>(
          "--after", [this](const std::string& text) { scan_.after = decoded("--after", text); },
          "Go on after this cursor")
      ->type_name("CURSOR");
  when_given(scan, [this, &scan]() -> Verb {
    (void)words(scan);
    scan_.prefix = as_typed(scan_.prefix);
    return scan_;
  });
}

void CommandLine::add_load_and_dump() {
  CLI::App& load = verb(app_, "load", R"(Stores JSON lines: {"key_b64": …, "value_b64": …})",
                        "kvctl dump > all.jsonl; kvctl load --resume all.jsonl");
  add_words(load, {"FILE"});
  load.add_flag("--resume", load_.resume, "Go on after the last acknowledged line, kept in FILE.progress");
  when_given(load, [this, &load]() -> Verb {
    load_.file = words(load)[0];
    if (load_.resume && load_.file == "-")
      throw CLI::ValidationError("--resume", "standard input can't be resumed");
    return load_;
  });

  CLI::App& dump =
      verb(app_, "dump", "Prints all keys and values as JSON lines, in the order of their tokens",
           "kvctl dump > all.jsonl");
  when_given(dump, [this, &dump]() -> Verb {
    (void)words(dump);
    return DumpVerb{};
  });
}

void CommandLine::add_inspection() {
  CLI::App& local =
      verb(app_, "local-get", "What one replica holds of a key", "kvctl local-get n1 greeting --json");
  add_words(local, {"NODE", "KEY"});
  when_given(local, [this, &local]() -> Verb {
    const auto typed = words(local);
    return LocalGetVerb{typed[0], typed[1]};
  });

  CLI::App& explain =
      verb(app_, "explain", "Where a key lives, and what each replica holds of it", "kvctl explain greeting");
  add_words(explain, {"KEY"});
  when_given(explain, [this, &explain]() -> Verb { return ExplainVerb{words(explain)[0]}; });

  CLI::App& status = verb(app_, "status", "The members and how they are", "kvctl status");
  when_given(status, [this, &status]() -> Verb {
    (void)words(status);
    return StatusVerb{};
  });

  CLI::App& ring = verb(app_, "ring", "The ring's description", "kvctl ring --owners --json");
  ring.add_flag("--owners", ring_.owners, "With the owner of each partition");
  when_given(ring, [this, &ring]() -> Verb {
    (void)words(ring);
    return ring_;
  });

  CLI::App& stats =
      verb(app_, "stats", "Counters and latencies of a node (the one asked), as JSON", "kvctl stats n1");
  add_words(stats, {"NAME"});
  stats.add_flag("--reset-latencies", stats_.reset_latencies, "Begin latencies afresh after this");
  when_given(stats, [this, &stats]() -> Verb {
    const auto typed = words(stats, 1);
    if (!typed.empty()) stats_.node = typed[0];
    return stats_;
  });
}

void CommandLine::add_buckets() {
  CLI::App& bucket =
      verb(app_, "bucket", "Makes, changes and lists buckets", "kvctl bucket create sessions --ttl 30m");
  bucket.require_subcommand(0, 1);

  CLI::App& create =
      verb(bucket, "create", "Makes a bucket", "kvctl bucket create sessions --conflict lww --ttl 30m");
  add_words(create, {"NAME"});
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
  add_words(set, {"NAME"});
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

std::variant<Invocation, int> CommandLine::parse(int argc, const char* const* argv) {
  if (const auto exit_code = tools::parse(app_, argc, argv)) return *exit_code;
  try {
    for (const Maker& maker : makers_) {
      if (maker.verb->parsed()) return Invocation{target_, maker.make()};
    }
  } catch (const CLI::ParseError& error) {
    return refuse(app_, error.what());
  }
  return refuse(app_, "no verb given");
}

}  // namespace

std::variant<Invocation, int> parse_command_line(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace ringkv::tools
