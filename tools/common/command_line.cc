#include "tools/common/command_line.h"

#include <algorithm>
#include <iostream>
#include <sstream>

#include "ringkv/text.h"
#include "ringkv/version.h"
#include "tools/common/help_text.h"
#include "tools/common/units.h"

namespace ringkv::tools {
namespace {

// In front of a word that CLI11 would misread. No word on a command line holds a zero byte.
constexpr char kHidden = '\0';

// "-5", "-2.5": no flag has such a name. Behind a flag it is that flag's value, and is left alone.
bool is_negative_number(const std::string& word, const std::string& before) {
  return word.size() > 1 && word[0] == '-' && word.find_first_not_of("0123456789.", 1) == std::string::npos &&
         !before.starts_with('-');
}

// CLI11 takes them from the last to the first. It would read "--context=" as "--context" and take the next
// word for its value: split, the empty value stays one.
std::vector<std::string> words_for(int argc, const char* const* argv) {
  std::vector<std::string> words;
  bool flags_ended = false;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    flags_ended = flags_ended || word == "--";
    if (!flags_ended && word.size() > 3 && word.starts_with("--") && word.find('=') == word.size() - 1) {
      words.push_back(word.substr(0, word.size() - 1));
      words.emplace_back();
    } else if (word == "++" || (!flags_ended && is_negative_number(word, argv[i - 1]))) {
      words.push_back(kHidden + word);
    } else {
      words.push_back(word);
    }
  }
  std::reverse(words.begin(), words.end());
  return words;
}

// The innermost verb that was given.
const CLI::App& innermost(const CLI::App& app) {
  const auto verbs = app.get_subcommands();
  return verbs.empty() ? app : innermost(*verbs.front());
}

std::string path_of(const CLI::App& app) {
  const CLI::App* parent = app.get_parent();
  return parent == nullptr ? app.get_name() : path_of(*parent) + " " + app.get_name();
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* level = &innermost(app); level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

std::string with_nearest(std::string message, const std::string& word,
                         const std::vector<std::string>& names) {
  if (const auto meant = nearest(word, names)) message += "; did you mean " + *meant + "?";
  return message;
}

bool wants_verb(const CLI::App& app) { return !verb_names(app).empty(); }

// A verb that has verbs and does something by itself: others say how many of theirs they take.
bool stands_alone(const CLI::App& app) {
  return app.get_parent() != nullptr && app.get_require_subcommand_max() == 0;
}

std::string missing_verb(const CLI::App& verb) {
  std::string message = path_of(verb) + " needs one of:";
  for (const std::string& name : verb_names(verb)) message += " " + name;
  return message;
}

// What is wrong with the words that no flag, verb or argument took, or nothing.
std::optional<std::string> fault_of(const CLI::App& app) {
  const CLI::App& verb = innermost(app);
  bool flags_ended = false;
  for (const std::string& remaining : app.remaining(true)) {
    const std::string word = as_typed(remaining);
    if (word == "--") {
      flags_ended = true;
      continue;
    }
    if (!flags_ended && word.size() > 1 && word[0] == '-') {
      const std::string name = word.substr(0, word.find('='));
      return with_nearest("unknown option " + name, name, option_names(app)) +
             " (a key or value that begins with '-' comes after --)";
    }
    if (wants_verb(verb)) return with_nearest("unknown verb '" + escaped(word) + "'", word, verb_names(verb));
    return "'" + escaped(word) + "' is one argument too many";
  }
  if (wants_verb(verb) && !stands_alone(verb)) return missing_verb(verb);
  return std::nullopt;
}

template <class Target>
CLI::Option* add_parsed_duration(CLI::App& app, const std::string& name, Target& target,
                                 const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            const Result<std::chrono::milliseconds> duration = parse_duration(text);
            if (!duration.ok()) throw CLI::ValidationError(name, duration.status().message());
            target = *duration;
          },
          help)
      ->type_name("DURATION");
}

// A flag that is given again takes the place of the first, so that a wrapper's flags can be overridden.
void let_the_last_win(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (!option->get_positional() && option->get_items_expected_max() == 1) option->take_last();
  }
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) let_the_last_win(*verb);
}

}  // namespace

std::string as_typed(const std::string& word) { return word.starts_with(kHidden) ? word.substr(1) : word; }

int refuse(const CLI::App& app, const std::string& message) {
  const CLI::App& verb = innermost(app);
  std::cerr << app.get_name() << ": " << message << "\nSee: " << path_of(verb) << " --help\n";
  return 2;
}

void describe(CLI::App& app, const std::string& example) {
  app.footer("Example: " + example);
  if (app.get_parent() == nullptr)
    app.set_version_flag("--version", app.get_name() + " " + version() + " (" + commit() + ")",
                         "Print the version with its commit and end");
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  let_the_last_win(app);
  set_help_text(app);
  app.allow_extras();  // fault_of() names them better
  try {
    app.parse(words_for(argc, argv));
  } catch (const CLI::ParseError& error) {
    // `kvctl wiat --help` is no question about kvctl.
    const auto unknown = fault_of(app);
    const bool misled = unknown && unknown->starts_with("unknown verb");
    if (error.get_exit_code() == 0 && !misled) return app.exit(error, std::cout, std::cerr);
    if (const auto fault = fault_of(app)) return refuse(app, *fault);
    return refuse(app, error.what());
  }
  if (const auto fault = fault_of(app)) return refuse(app, *fault);
  return std::nullopt;
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, std::chrono::milliseconds& target,
                          const std::string& help) {
  return add_parsed_duration(app, name, target, help);
}

CLI::Option* add_duration(CLI::App& app, const std::string& name,
                          std::optional<std::chrono::milliseconds>& target, const std::string& help) {
  return add_parsed_duration(app, name, target, help);
}

CLI::Option* add_durability(CLI::App& app, const std::string& name, std::optional<Durability>& target,
                            const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&target, name](const std::string& text) {
            if (text != "synced" && text != "buffered")
              throw CLI::ValidationError(name, "'" + text + "' is neither synced nor buffered");
            target = text == "synced" ? Durability::kSynced : Durability::kBuffered;
          },
          help)
      ->type_name("synced|buffered");
}

CLI::Option* add_nodes(CLI::App& app, std::vector<std::string>& target) {
  return app
      .add_option_function<std::string>(
          "--node",
          [&target](const std::string& text) {
            target.clear();
            std::istringstream list(text);
            for (std::string address; std::getline(list, address, ',');) {
              const Result<HostPort> parsed = parse_address(address);
              if (!parsed.ok()) throw CLI::ValidationError("--node", parsed.status().message());
              target.push_back(address);
            }
            if (target.empty()) throw CLI::ValidationError("--node", "no address given");
          },
          "Nodes to ask; the first that answers serves (or RINGKV_NODE; default 127.0.0.1:7401)")
      ->type_name("HOST:PORT[,HOST:PORT…]")
      ->envname("RINGKV_NODE");
}

}  // namespace ringkv::tools
