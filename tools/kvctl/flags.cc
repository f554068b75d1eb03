#include "tools/kvctl/verb_flags.h"

#include <utility>

#include "ringkv/text.h"
#include "tools/common/help_text.h"

namespace ringkv::tools {

std::string decoded_base64(const std::string& flag, const std::string& text) {
  std::optional<std::string> bytes = from_base64(text);
  if (!bytes) throw CLI::ValidationError(flag, "'" + escaped(text) + "' isn't base64");
  return *std::move(bytes);
}

CommandLine::CommandLine() {
  describe(app_, "kvctl put greeting hello && kvctl get greeting");
  app_.require_subcommand(0, 1);
  app_.fallthrough();
  add_nodes(app_, target_.nodes);
  add_duration(
      app_, "--timeout", timeout_,
      "How long one request may take (default 5s), a wait (default 60s), or repair, scrub and purge (default "
      "10m)");
  app_.add_option("--bucket", target_.bucket, "The bucket; without it the default one")->type_name("NAME");
  app_.add_flag("--json", target_.json, "Print data as JSON");
  app_.add_option_function<std::string>(
          "--key-b64",
          [this](const std::string& text) {
            key_base64_ = decoded_base64("--key-b64", text);
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
  add_wait();
  add_convergence();
  add_plan();
  add_faults();
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

void CommandLine::add_words(CLI::App& verb, const std::vector<Word>& words) {
  for (const Word& word : words) {
    CLI::Option* option = verb.add_option_function<std::string>(
        word.name, [](const std::string&) {}, word.help);
    option->type_name("");
    if (word.may_be_missing) option->group(kMayBeMissing);
  }
}

std::vector<std::string> CommandLine::words(const CLI::App& verb) const {
  std::vector<std::string> names;
  std::vector<std::string> typed;
  size_t needed = 0;
  for (const CLI::Option* option : verb.get_options()) {
    if (!option->get_positional()) continue;
    names.push_back(option->get_name(true));
    if (option->get_group() != kMayBeMissing) needed = names.size();
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
  if (typed.size() < needed) throw CLI::RequiredError(names[typed.size()]);
  return typed;
}

std::variant<Invocation, int> CommandLine::parse(int argc, const char* const* argv) {
  if (const auto exit_code = tools::parse(app_, argc, argv)) return *exit_code;
  target_.timeout = timeout_.value_or(kRequestTimeoutDefault);
  try {
    for (const Maker& maker : makers_) {
      if (!maker.verb->parsed()) continue;
      Verb verb = maker.make();
      return Invocation{target_, std::move(verb)};
    }
  } catch (const CLI::ParseError& error) {
    return refuse(app_, error.what());
  }
  return refuse(app_, "no verb given");
}

std::variant<Invocation, int> parse_command_line(int argc, const char* const* argv) {
  return CommandLine().parse(argc, argv);
}

}  // namespace ringkv::tools
