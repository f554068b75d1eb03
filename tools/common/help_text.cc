#include "tools/common/help_text.h"

#include <memory>
#include <string>
#include <utility>

namespace ringkv::tools {
namespace {

class HelpText : public CLI::Formatter {
 public:
  HelpText() {
    label("OPTIONS", "FLAG…");
    label("SUBCOMMAND", "VERB");
    label("Positionals", "Arguments");
  }

  // CLI11 leaves a second empty line where a group has no flags, and its "may be missing" is about no verb of
  // ours.
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    std::string text = CLI::Formatter::make_help(app, std::move(name), mode);
    text = CLI::detail::find_and_replace(text, "\n\n\n", "\n\n");
    return CLI::detail::find_and_replace(text, "[VERB]", "VERB");
  }

  std::string make_option_usage(const CLI::Option* option) const override {
    const std::string name = make_option_name(option, true);
    return option->get_group() == kMayBeMissing ? '[' + name + ']' : name;
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_type_name().empty() ? "" : ' ' + option->get_type_name();
  }
};

void set_help_text(CLI::App& app, const std::shared_ptr<HelpText>& text) {
  app.formatter(text);
  for (CLI::Option* option : app.get_options()) {
    if (option->nonpositional()) option->group("Flags");
  }
  if (CLI::Option* help = app.get_help_ptr()) help->description("Print this and end");
  for (CLI::App* verb : app.get_subcommands([](CLI::App*) { return true; })) {
    verb->group("Verbs");
    set_help_text(*verb, text);
  }
}

}  // namespace

void set_help_text(CLI::App& app) { set_help_text(app, std::make_shared<HelpText>()); }

}  // namespace ringkv::tools
