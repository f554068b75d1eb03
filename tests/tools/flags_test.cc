#include "tools/kvctl/flags.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace ringkv::tools {
namespace {

struct Outcome {
  std::variant<Invocation, int> parsed;
  std::string out;
  std::string err;

  template <class V>
  const V& verb() const {
    return std::get<V>(std::get<Invocation>(parsed).verb);
  }
  const Target& target() const { return std::get<Invocation>(parsed).target; }
  int exit_code() const { return std::holds_alternative<int>(parsed) ? std::get<int>(parsed) : -1; }
};

Outcome parse(std::vector<std::string> words) {
  words.insert(words.begin(), "kvctl");
  std::vector<const char*> argv;
  for (const std::string& word : words) argv.push_back(word.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto parsed = parse_command_line(static_cast<int>(argv.size()), argv.data());
  return {std::move(parsed), testing::internal::GetCapturedStdout(), testing::internal::GetCapturedStderr()};
}

TEST(Flags, GlobalOnesMayComeBeforeOrAfterTheVerb) {
  for (const auto& words : std::vector<std::vector<std::string>>{
           {"--node", "h:1,[::1]:2", "--timeout", "500ms", "--bucket", "b", "--json", "get", "k"},
           {"get", "k", "--node", "h:1,[::1]:2", "--timeout", "500ms", "--bucket", "b", "--json"},
           {"get", "--node=h:1,[::1]:2", "--timeout=500ms", "k", "--bucket=b", "--json"}}) {
    const Outcome outcome = parse(words);

    ASSERT_EQ(outcome.exit_code(), -1) << outcome.err;
    EXPECT_EQ(outcome.target().nodes, (std::vector<std::string>{"h:1", "[::1]:2"}));
    EXPECT_EQ(outcome.target().timeout.count(), 500);
    EXPECT_EQ(outcome.target().bucket, "b");
    EXPECT_TRUE(outcome.target().json);
    EXPECT_EQ(outcome.verb<GetVerb>().key, "k");
  }
}

// Each of these means something of its own somewhere in CLI11.
TEST(Flags, KeysAndValuesAreTakenAsTheyAre) {
  for (const std::string word : {"", " ", "{}", "[1,2]", "%%", "-", "get", "put", "a=b", "'quoted'", "\"q\"",
                                 "\xff", "bucket", "true", "/x", "++"}) {
    const Outcome outcome = parse({"put", word, word});

    ASSERT_EQ(outcome.exit_code(), -1) << word << ": " << outcome.err;
    EXPECT_EQ(outcome.verb<PutVerb>().key, word);
    EXPECT_EQ(outcome.verb<PutVerb>().value, word);
  }
}

TEST(Flags, TwoDashesEndFlags) {
  const Outcome outcome = parse({"--json", "put", "--", "-v", "--json"});

  ASSERT_EQ(outcome.exit_code(), -1) << outcome.err;
  EXPECT_EQ(outcome.verb<PutVerb>().key, "-v");
  EXPECT_EQ(outcome.verb<PutVerb>().value, "--json");
  EXPECT_FALSE(outcome.verb<PutVerb>().write.receipt);
}

TEST(Flags, AKeyInBase64TakesThePlaceOfTheKey) {
  EXPECT_EQ(parse({"get", "--key-b64", "/w=="}).verb<GetVerb>().key, "\xff");
  EXPECT_EQ(parse({"--key-b64", "/w==", "put", "value"}).verb<PutVerb>().value, "value");
  EXPECT_EQ(parse({"local-get", "n1", "--key-b64", "/w=="}).verb<LocalGetVerb>().key, "\xff");
  EXPECT_EQ(parse({"get", "k", "--key-b64", "/w=="}).exit_code(), 2);
  EXPECT_EQ(parse({"get", "--key-b64", "/w="}).exit_code(), 2);
  EXPECT_EQ(parse({"status", "--key-b64", "/w=="}).exit_code(), 2);
  EXPECT_EQ(parse({"put", "--key-b64", "/w=="}).exit_code(), 2);
  EXPECT_EQ(parse({"local-get", "--key-b64", "/w=="}).exit_code(), 2);
}

TEST(Flags, AnEmptyValueOfAFlagIsAValue) {
  for (const auto& words : std::vector<std::vector<std::string>>{{"put", "--context=", "k", "v"},
                                                                 {"put", "k", "v", "--context", ""}}) {
    const Outcome outcome = parse(words);

    ASSERT_EQ(outcome.exit_code(), -1) << outcome.err;
    ASSERT_TRUE(outcome.verb<PutVerb>().write.context.has_value());
    EXPECT_TRUE(outcome.verb<PutVerb>().write.context->empty());
    EXPECT_EQ(outcome.verb<PutVerb>().key, "k");
  }
}

TEST(Flags, EveryFlagOfPutArrives) {
  const Outcome outcome = parse({"put", "k", "--file", "f", "--context", "Yw==", "--w", "2", "--durability",
                                 "buffered", "--primary", "--ttl", "60s", "--op-id", "ab.1@cd", "-v"});

  ASSERT_EQ(outcome.exit_code(), -1) << outcome.err;
  const PutVerb& put = outcome.verb<PutVerb>();
  EXPECT_EQ(put.file, "f");
  EXPECT_EQ(put.write.context->bytes(), "c");
  EXPECT_EQ(put.write.w, 2U);
  EXPECT_EQ(put.write.durability, Durability::kBuffered);
  EXPECT_TRUE(put.write.primary);
  EXPECT_EQ(put.write.ttl->count(), 60'000);
  EXPECT_EQ(put.write.operation_id, "ab.1@cd");
  EXPECT_TRUE(put.write.receipt);
}

TEST(Flags, BucketHasVerbsOfItsOwn) {
  const Outcome create = parse({"bucket", "create", "list", "--conflict", "lww", "--ttl", "30m", "--w", "3"});
  ASSERT_EQ(create.exit_code(), -1) << create.err;
  EXPECT_EQ(create.verb<CreateBucketVerb>().bucket.name, "list");
  EXPECT_EQ(create.verb<CreateBucketVerb>().bucket.conflict, "lww");
  EXPECT_EQ(create.verb<CreateBucketVerb>().bucket.ttl_ms, 1'800'000U);

  const Outcome set = parse({"bucket", "set", "b", "--r", "1"});
  ASSERT_EQ(set.exit_code(), -1) << set.err;
  EXPECT_EQ(set.verb<ChangeBucketVerb>().change.r, 1U);
  EXPECT_FALSE(set.verb<ChangeBucketVerb>().change.w.has_value());

  EXPECT_EQ(parse({"bucket", "list"}).exit_code(), -1);
  EXPECT_EQ(parse({"bucket"}).exit_code(), 2);
}

TEST(Flags, AWaitHasATimeoutOfItsOwn) {
  const Outcome by_default = parse({"wait", "joined"});
  ASSERT_EQ(by_default.exit_code(), -1) << by_default.err;
  EXPECT_TRUE(std::holds_alternative<WaitVerb>(std::get<Invocation>(by_default.parsed).verb));
  EXPECT_EQ(by_default.target().patience, std::chrono::seconds(60));
  EXPECT_EQ(by_default.target().timeout, kRequestTimeoutDefault);

  EXPECT_EQ(parse({"wait", "joined", "--timeout", "2m"}).target().patience, std::chrono::minutes(2));
  EXPECT_EQ(parse({"wait", "joined", "--timeout", "2m"}).target().timeout, kRequestTimeoutDefault);
  EXPECT_EQ(parse({"--timeout", "1s", "wait", "joined"}).target().timeout, std::chrono::seconds(1));
  EXPECT_EQ(parse({"get", "k", "--timeout", "2m"}).target().timeout, std::chrono::minutes(2));
  EXPECT_EQ(parse({"get", "k", "--timeout", "2m"}).target().patience.count(), 0);
}

TEST(Flags, AFaultIsBetweenTwoMembers) {
  const Outcome drop = parse({"fault", "drop", "n1", "n2"});
  ASSERT_EQ(drop.exit_code(), -1) << drop.err;
  EXPECT_EQ(drop.verb<DropTrafficVerb>().one, "n1");
  EXPECT_EQ(drop.verb<DropTrafficVerb>().other, "n2");

  EXPECT_EQ(parse({"fault", "delay", "n1", "n2", "200"}).verb<DelayTrafficVerb>().delay.count(), 200);
  EXPECT_EQ(parse({"fault", "delay", "n1", "n2", "2s"}).verb<DelayTrafficVerb>().delay.count(), 2000);
  EXPECT_EQ(parse({"fault", "heal"}).exit_code(), -1);
}

TEST(Flags, AWaitSaysWhatFor) {
  EXPECT_EQ(parse({"wait", "joined"}).verb<WaitVerb>().what, WaitVerb::For::kJoined);
  EXPECT_EQ(parse({"wait", "hints-drained"}).verb<WaitVerb>().what, WaitVerb::For::kHintsDrained);
  const Outcome converged = parse({"wait", "converged", "--timeout", "30s"});
  ASSERT_EQ(converged.exit_code(), -1) << converged.err;
  EXPECT_EQ(converged.verb<WaitVerb>().what, WaitVerb::For::kConverged);
  EXPECT_EQ(converged.target().patience, std::chrono::seconds(30));
  EXPECT_EQ(converged.target().timeout, kRequestTimeoutDefault);
}

// Of one member's work; who is asked whether a member is there still gets an answer at once.
TEST(Flags, WorkTakesAsLongAsItTakes) {
  const Outcome repair = parse({"repair"});
  ASSERT_EQ(repair.exit_code(), -1) << repair.err;
  EXPECT_EQ(repair.verb<RepairVerb>().timeout, std::chrono::minutes(10));
  EXPECT_EQ(repair.target().timeout, kRequestTimeoutDefault);
  EXPECT_FALSE(repair.verb<RepairVerb>().partition.has_value());
  EXPECT_FALSE(repair.verb<RepairVerb>().accept_loss);

  EXPECT_EQ(parse({"repair", "--timeout", "1h"}).verb<RepairVerb>().timeout, std::chrono::hours(1));
  EXPECT_EQ(parse({"repair", "--timeout", "1h"}).target().timeout, kRequestTimeoutDefault);
  EXPECT_EQ(parse({"purge", "--timeout", "1s"}).verb<PurgeVerb>().timeout, std::chrono::seconds(1));
  EXPECT_EQ(parse({"purge", "--timeout", "1s"}).target().timeout, std::chrono::seconds(1));
  EXPECT_EQ(parse({"scrub"}).verb<ScrubVerb>().timeout, std::chrono::minutes(10));
  EXPECT_EQ(parse({"hints", "--timeout", "1s"}).target().timeout, std::chrono::seconds(1));
  EXPECT_EQ(parse({"lag"}).exit_code(), -1);
  EXPECT_EQ(parse({"transfers"}).exit_code(), -1);
}

TEST(Flags, ARepairIsOfAllOrOfOnePartition) {
  EXPECT_EQ(parse({"repair", "--partition", "17"}).verb<RepairVerb>().partition, 17U);
  EXPECT_TRUE(parse({"repair", "--accept-loss"}).verb<RepairVerb>().accept_loss);
  EXPECT_EQ(parse({"repair", "--accept-loss", "--partition", "17"}).exit_code(), 2);
}

TEST(Flags, AClockIsFastOrSlowByAsManySeconds) {
  const auto offset_ms = [](const std::string& text) {
    const Outcome outcome = parse({"fault", "clock", "n2", text});
    EXPECT_EQ(outcome.exit_code(), -1) << text << ": " << outcome.err;
    return outcome.exit_code() == -1 ? outcome.verb<SkewClockVerb>().offset.count() : 0;
  };
  EXPECT_EQ(offset_ms("+864000"), 864'000'000);
  EXPECT_EQ(offset_ms("864000"), 864'000'000);
  EXPECT_EQ(offset_ms("-5"), -5000);
  EXPECT_EQ(offset_ms("-2.5"), -2500);
  EXPECT_EQ(offset_ms("+1h"), 3'600'000);
  EXPECT_EQ(offset_ms("+0"), 0);
  EXPECT_EQ(offset_ms("0"), 0);
  EXPECT_EQ(parse({"fault", "clock", "n2", "-5"}).verb<SkewClockVerb>().node, "n2");
  EXPECT_EQ(parse({"fault", "clock", "n2", "--", "-10d"}).verb<SkewClockVerb>().offset.count(), -864'000'000);
}

TEST(Flags, ANegativeNumberIsAKeyOrAValue) {
  const Outcome put = parse({"put", "-5", "-2.5", "--w", "2"});
  ASSERT_EQ(put.exit_code(), -1) << put.err;
  EXPECT_EQ(put.verb<PutVerb>().key, "-5");
  EXPECT_EQ(put.verb<PutVerb>().value, "-2.5");
  EXPECT_NE(parse({"status", "-5"}).err.find("-5"), std::string::npos);
}

TEST(Flags, StatusSaysMoreWhenAskedTo) {
  EXPECT_FALSE(parse({"status"}).verb<StatusVerb>().verbose);
  EXPECT_TRUE(parse({"status", "-v"}).verb<StatusVerb>().verbose);
}

TEST(Flags, EveryWrongUseIsExitCodeTwo) {
  for (const auto& words :
       std::vector<std::vector<std::string>>{{},
                                             {"get"},
                                             {"get", "a", "b"},
                                             {"put", "a"},
                                             {"put", "a", "b", "c"},
                                             {"put", "a", "b", "--file", "f"},
                                             {"put", "a", "b", "--w", "x"},
                                             {"put", "a", "b", "--w", "-1"},
                                             {"put", "a", "b", "--w"},
                                             {"put", "a", "b", "--durability", "maybe"},
                                             {"put", "a", "b", "--context", "!"},
                                             {"get", "a", "--timeout", "5"},
                                             {"get", "a", "--node", "nowhere"},
                                             {"get", "a", "--node", ""},
                                             {"scan", "x"},
                                             {"scan", "--limit", "many"},
                                             {"load"},
                                             {"load", "-", "--resume"},
                                             {"bucket", "create", "b", "--conflict", "maybe"},
                                             {"wait"},
                                             {"wait", "for-godot"},
                                             {"wait", "joined", "n1"},
                                             {"wait", "converged", "n1"},
                                             {"hints", "n1"},
                                             {"lag", "n1"},
                                             {"transfers", "n1"},
                                             {"throttle"},
                                             {"purge", "n1"},
                                             {"scrub", "--partition", "1"},
                                             {"repair", "17"},
                                             {"repair", "--partition"},
                                             {"repair", "--partition", "-1"},
                                             {"repair", "--partition", "x"},
                                             {"repair", "--partition", "4294967296"},
                                             {"fault", "clock", "n1"},
                                             {"fault", "clock", "n1", "soon"},
                                             {"fault", "clock", "n1", "+"},
                                             {"fault", "clock", "n1", "+-5"},
                                             {"fault", "clock", "n1", "1.2.3"},
                                             {"fault"},
                                             {"fault", "drop", "n1"},
                                             {"fault", "heal", "n1"},
                                             {"fault", "delay", "n1", "n2"},
                                             {"fault", "delay", "n1", "n2", "-1"},
                                             {"fault", "delay", "n1", "n2", "soon"},
                                             {"nonsense"}}) {
    const Outcome outcome = parse(words);
    std::string typed;
    for (const std::string& word : words) typed += word + " ";
    EXPECT_EQ(outcome.exit_code(), 2) << typed;
    EXPECT_NE(outcome.err, "") << typed;
    EXPECT_EQ(outcome.out, "") << typed;
  }
}

TEST(Flags, NamesTheNearestRightWord) {
  EXPECT_NE(parse({"gett", "k"}).err.find("get"), std::string::npos);
  EXPECT_NE(parse({"put", "k", "v", "--durabilty", "synced"}).err.find("--durability"), std::string::npos);
  EXPECT_NE(parse({"get", "k", "--jsn"}).err.find("--json"), std::string::npos);
  EXPECT_NE(parse({"--tiemout", "5s", "get", "k"}).err.find("--timeout"), std::string::npos);
  EXPECT_NE(parse({"bucket", "crate", "b"}).err.find("create"), std::string::npos);
}

TEST(Flags, EveryVerbHasHelpWithAnExample) {
  for (const auto& verb : std::vector<std::vector<std::string>>{{},
                                                                {"put"},
                                                                {"get"},
                                                                {"del"},
                                                                {"exists"},
                                                                {"scan"},
                                                                {"load"},
                                                                {"dump"},
                                                                {"local-get"},
                                                                {"explain"},
                                                                {"status"},
                                                                {"ring"},
                                                                {"stats"},
                                                                {"wait"},
                                                                {"wait", "joined"},
                                                                {"wait", "converged"},
                                                                {"wait", "hints-drained"},
                                                                {"hints"},
                                                                {"lag"},
                                                                {"transfers"},
                                                                {"throttle"},
                                                                {"repair"},
                                                                {"purge"},
                                                                {"scrub"},
                                                                {"fault"},
                                                                {"fault", "clock"},
                                                                {"fault", "drop"},
                                                                {"fault", "delay"},
                                                                {"fault", "heal"},
                                                                {"bucket"},
                                                                {"bucket", "create"},
                                                                {"bucket", "set"},
                                                                {"bucket", "list"}}) {
    auto words = verb;
    words.push_back("--help");
    const Outcome outcome = parse(words);
    EXPECT_EQ(outcome.exit_code(), 0);
    EXPECT_NE(outcome.out.find("Example: kvctl"), std::string::npos) << outcome.out;
    EXPECT_EQ(outcome.err, "");
  }
}

TEST(Flags, HelpDescribesEveryArgumentAndBracketsWhatMayBeMissing) {
  const std::string put = parse({"put", "--help"}).out;
  EXPECT_NE(put.find("Usage: kvctl put [FLAG…] KEY [VALUE]\n"), std::string::npos) << put;
  EXPECT_NE(put.find("The key's bytes"), std::string::npos) << put;
  EXPECT_NE(put.find("The value's bytes"), std::string::npos) << put;
  EXPECT_EQ(put.find("\n\n\n"), std::string::npos) << put;
  EXPECT_NE(parse({"stats", "--help"}).out.find("[NAME]"), std::string::npos);
  EXPECT_NE(parse({"local-get", "--help"}).out.find("] NODE KEY\n"), std::string::npos);
  EXPECT_NE(parse({"--help"}).out.find("Usage: kvctl [FLAG…] VERB\n"), std::string::npos);
  EXPECT_NE(parse({"--help"}).out.find("\nVerbs:\n"), std::string::npos);
}

TEST(Flags, VersionIsExitCodeZero) {
  const Outcome outcome = parse({"--version"});

  EXPECT_EQ(outcome.exit_code(), 0);
  EXPECT_EQ(outcome.out.rfind("kvctl ", 0), 0U) << outcome.out;
}

TEST(Flags, TheEnvironmentNamesNodesUnlessAFlagDoes) {
  ::setenv("RINGKV_NODE", "h:1,h:2", 1);
  const Outcome from_environment = parse({"get", "k"});
  const Outcome from_flag = parse({"get", "k", "--node", "h:3"});
  ::unsetenv("RINGKV_NODE");

  EXPECT_EQ(from_environment.target().nodes, (std::vector<std::string>{"h:1", "h:2"}));
  EXPECT_EQ(from_flag.target().nodes, (std::vector<std::string>{"h:3"}));
  EXPECT_EQ(parse({"get", "k"}).target().nodes, (std::vector<std::string>{"127.0.0.1:7401"}));
}

TEST(Flags, AThrottleIsARateOrAuto) {
  EXPECT_EQ(parse({"throttle", "20MB"}).verb<ThrottleVerb>().bytes_per_second, 20'000'000U);
  EXPECT_EQ(parse({"throttle", "1GiB/s"}).verb<ThrottleVerb>().bytes_per_second, 1U << 30);
  EXPECT_EQ(parse({"throttle", "auto"}).verb<ThrottleVerb>().bytes_per_second, 0U);
  for (const std::string word : {"0", "fast", "1", "-5MB", "20MB/min", "3GB"}) {
    const Outcome outcome = parse({"throttle", word});
    EXPECT_EQ(outcome.exit_code(), 2) << word;
    EXPECT_NE(outcome.err.find("RATE"), std::string::npos) << outcome.err;
  }
}

TEST(Flags, ForcingTheRingIsAVerbOfItsOwnAndSaysWhoIsLost) {
  EXPECT_EQ(parse({"ring", "force", "--lost", "n3,n4"}).verb<ForceRingVerb>().lost,
            (std::vector<std::string>{"n3", "n4"}));
  EXPECT_FALSE(parse({"ring", "force", "--lost", "n3"}).verb<ForceRingVerb>().yes);
  EXPECT_TRUE(parse({"ring", "force", "--lost", "n3", "--yes", "--json"}).verb<ForceRingVerb>().yes);
  EXPECT_EQ(parse({"ring", "force", "--yes"}).exit_code(), 2);
  EXPECT_EQ(parse({"ring", "force", "n3"}).exit_code(), 2);
  EXPECT_TRUE(parse({"ring", "--owners"}).verb<RingVerb>().owners);
  EXPECT_FALSE(parse({"ring"}).verb<RingVerb>().owners);
  EXPECT_EQ(parse({"ring", "farce"}).exit_code(), 2);
}

TEST(Flags, APlanIsMadeOfSteps) {
  const auto steps = [](std::vector<std::string> words) {
    words.insert(words.begin(), "plan");
    return parse(words).verb<PlanVerb>().steps;
  };
  using Steps = std::vector<PlanStep>;
  EXPECT_EQ(steps({"join", "n4", "n5", "--json"}), (Steps{PlanJoin{"n4"}, PlanJoin{"n5"}}));
  EXPECT_EQ(steps({"leave", "n3"}), Steps{PlanLeave{"n3"}});
  EXPECT_EQ(steps({"replace", "n3", "n6"}), (Steps{PlanReplace{"n3", "n6", false}}));
  EXPECT_EQ(steps({"replace", "n3", "n6", "--force"}), (Steps{PlanReplace{"n3", "n6", true}}));
  EXPECT_EQ(steps({"weight", "n2", "0.5"}), (Steps{PlanWeight{"n2", 0.5}}));
  EXPECT_EQ(steps({"rack", "n2", "b"}), (Steps{PlanRack{"n2", "b"}}));
  EXPECT_EQ(steps({"replicas", "5"}), Steps{PlanReplicas{5}});
  EXPECT_EQ(steps({"move", "17", "n2"}), (Steps{PlanMove{17, "n2"}}));
  EXPECT_EQ(parse({"plan", "commit"}).verb<CommitPlanVerb>().epoch, std::nullopt);
  EXPECT_EQ(parse({"plan", "commit", "7"}).verb<CommitPlanVerb>().epoch, 7U);
  EXPECT_EQ(parse({"plan", "show"}).exit_code(), -1);
  EXPECT_EQ(parse({"plan", "cancel"}).exit_code(), -1);
  for (const auto& wrong : std::vector<std::vector<std::string>>{{"plan"},
                                                                 {"plan", "join"},
                                                                 {"plan", "leave"},
                                                                 {"plan", "replace", "n3"},
                                                                 {"plan", "weight", "n2", "heavy"},
                                                                 {"plan", "replicas", "-1"},
                                                                 {"plan", "move", "n2", "17"},
                                                                 {"plan", "commit", "soon"}})
    EXPECT_EQ(parse(wrong).exit_code(), 2) << wrong.back();
}

}  // namespace
}  // namespace ringkv::tools
