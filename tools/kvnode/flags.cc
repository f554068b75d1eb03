#include "tools/kvnode/flags.h"

#include "tools/common/command_line.h"

namespace ringkv::tools {
namespace {

void add_setting(CLI::App& app, const Setting& setting, GivenSettings& given) {
  const std::string flag = "--" + setting.name;
  const auto keep = [&given, name = setting.name, flag](const std::string& text) {
    given[name] = {text, flag};
  };
  if (setting.kind == Setting::Kind::kSwitch) {
    app.add_flag_callback(
        flag, [keep] { keep("true"); }, setting.help);
  } else {
    app.add_option_function<std::string>(flag, keep, setting.help)->type_name(setting.value_name);
  }
}

}  // namespace

std::variant<NodeFlags, int> parse_node_flags(int argc, const char* const* argv) {
  CLI::App app(
      "Runs one ringkv node. Flags win over RINGKV_… variables (RINGKV_DISK_RESERVE for --disk-reserve), "
      "those over the configuration file.",
      "kvnode");
  describe(app,
           "kvnode --dev\n"
           "Example: kvnode --data d1 --name n1 --bootstrap\n"
           "Example: kvnode --data d2 --name n2 --peer 127.0.0.1:7410 --client 127.0.0.1:7411 --join "
           "127.0.0.1:7400");
  NodeFlags flags;
  for (const Setting& setting : all_settings()) add_setting(app, setting, flags.given);
  app.add_option("--config", flags.config, "Settings in TOML, by the flags' names")
      ->type_name("FILE")
      ->envname("RINGKV_CONFIG");
  app.add_flag("--print-config", flags.print_config, "Print the settings in force as such a file, and end");
  if (const auto exit_code = parse(app, argc, argv)) return *exit_code;
  return flags;
}

}  // namespace ringkv::tools
