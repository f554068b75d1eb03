// kvctl's verbs as CLI11 knows them, and what was typed for each. Used by flags*.cc alone: CLI11 is slow to
// compile.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "tools/common/command_line.h"
#include "tools/kvctl/flags.h"

namespace ringkv::tools {

// Positional arguments are taken as CLI11 holds them, unconverted: its conversions give "{}", "[…]" and "%%"
// meanings of their own, and keys and values are bytes.
class CommandLine {
 public:
  CommandLine();
  std::variant<Invocation, int> parse(int argc, const char* const* argv);

 private:
  // A positional argument.
  struct Word {
    std::string name;
    std::string help;
    bool may_be_missing = false;
  };

  static Word key_word() { return {"KEY", "The key's bytes; or --key-b64 in its place"}; }

  CLI::App& verb(CLI::App& parent, const std::string& name, const std::string& help,
                 const std::string& example);
  // Sets what the verb asks for once it has been given; throws CLI::ParseError on a wrong use.
  void when_given(CLI::App& verb, std::function<Verb()> make) { makers_.push_back({&verb, std::move(make)}); }
  static void add_words(CLI::App& verb, const std::vector<Word>& words);
  // What was typed for them, with KEY from --key-b64 in its place.
  std::vector<std::string> words(const CLI::App& verb) const;

  // flags_data.cc
  void add_put();
  void add_get();
  void add_delete();
  void add_exists();
  void add_scan();
  void add_load_and_dump();
  static void add_write_flags(CLI::App& verb, WriteFlags& write);

  // flags_cluster.cc
  void add_inspection();
  void add_ring();
  void add_buckets();
  void add_faults();

  // flags_converge.cc
  void add_wait();
  void add_convergence();
  std::chrono::milliseconds take_work_timeout();

  // flags_plan.cc
  void add_plan();
  void add_planning(CLI::App& plan);

  CLI::App app_{"Asks the nodes of a ringkv cluster.", "kvctl"};
  Target target_;
  std::optional<std::chrono::milliseconds> timeout_;
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
  StatusVerb status_;
  RingVerb ring_;
  std::string lost_;
  bool force_yes_ = false;
  StatsVerb stats_;
  BucketInfo bucket_;
  std::optional<std::chrono::milliseconds> bucket_ttl_;
  ChangeBucketVerb change_;
  RepairVerb repair_;
  bool force_replacement_ = false;
  bool force_leave_ = false;
};

// What a flag's text in base64 stands for; throws CLI::ValidationError.
std::string decoded_base64(const std::string& flag, const std::string& text);

}  // namespace ringkv::tools
