#include "tools/kvctl/verb_flags.h"

namespace ringkv::tools {
void CommandLine::add_write_flags(CLI::App& verb, WriteFlags& write) {
  verb.add_option_function<std::string>(
          "--context",
          [&write](const std::string& text) { write.context = Context(decoded_base64("--context", text)); },
          "Replace what was read with this context (an empty one: nothing); without it the key is read first")
      ->type_name("CONTEXT");
  verb.add_option("--w", write.w, "Acknowledgements to wait for (default the bucket's: a quorum)")
      ->type_name("N");
  add_durability(verb, "--durability", write.durability, "What an acknowledgement stands for");
  verb.add_flag("--primary", write.primary,
                "Count only acknowledgements of the key's owners, none of nodes that stand in for them");
  verb.add_option("--op-id", write.operation_id, "Operation id of an earlier try with an unknown outcome")
      ->type_name("ID");
  verb.add_flag("-v", write.receipt, "Print the receipt");
}

void CommandLine::add_put() {
  CLI::App& put = verb(app_, "put", "Stores a value", "kvctl put greeting hello; date | kvctl put now -");
  add_words(put,
            {key_word(),
             {"VALUE", "The value's bytes; - reads them from standard input; missing with --file", true}});
  put.add_option("--file", put_.file, "The value is this file's content")->type_name("FILE");
  add_write_flags(put, put_.write);
  add_duration(put, "--ttl", put_.write.ttl, "The value expires after this");
  when_given(put, [this, &put]() -> Verb {
    const auto typed = words(put);
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
  add_words(get, {key_word()});
  get.add_option("--r", get_.r, "Replicas to ask (default the bucket's: a quorum)")->type_name("N");
  when_given(get, [this, &get]() -> Verb {
    get_.key = words(get)[0];
    return get_;
  });
}

void CommandLine::add_delete() {
  CLI::App& del = verb(app_, "del", "Deletes a key; that it isn't there is no error", "kvctl del greeting");
  add_words(del, {key_word()});
  add_write_flags(del, delete_.write);
  when_given(del, [this, &del]() -> Verb {
    delete_.key = words(del)[0];
    return delete_;
  });
}

void CommandLine::add_exists() {
  CLI::App& exists = verb(app_, "exists", "Exit code 0 when the key has a value, 1 when not",
                          "kvctl exists greeting && echo there");
  add_words(exists, {key_word()});
  exists.add_option("--r", exists_.r, "Replicas to ask (default the bucket's: a quorum)")->type_name("N");
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
          "--after", [this](const std::string& text) { scan_.after = decoded_base64("--after", text); },
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
  add_words(load, {{"FILE", "The lines; - reads them from standard input"}});
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

}  // namespace ringkv::tools
