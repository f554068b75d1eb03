#include "tools/kvnode/settings.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ringkv::tools {
namespace {

namespace fs = std::filesystem;

class SettingsTest : public testing::Test {
 protected:
  SettingsTest() {
    std::string pattern = testing::TempDir() + "ringkv-settings-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~SettingsTest() override { fs::remove_all(directory_); }

  std::string file(const std::string& text) const {
    const fs::path path = directory_ / "node.toml";
    std::ofstream(path) << text;
    return path.string();
  }

  fs::path directory_;
};

GivenSettings flag(const std::string& name, const std::string& text) { return {{name, {text, "--" + name}}}; }

TEST_F(SettingsTest, AFileSetsEverySettingThatPrintConfigPrints) {
  GivenSettings given;
  for (const auto& [name, text] : std::map<std::string, std::string>{{"data", "d \"x\""},
                                                                     {"name", "n1"},
                                                                     {"rack", "r"},
                                                                     {"weight", "2.5"},
                                                                     {"peer", "127.0.0.1:1"},
                                                                     {"client", "127.0.0.1:0"},
                                                                     {"advertise-peer", "h:2"},
                                                                     {"advertise-client", "[::1]:3"},
                                                                     {"bootstrap", "true"},
                                                                     {"join", "a:1,[::1]:2"},
                                                                     {"join-timeout", "1m"},
                                                                     {"plan-only", "true"},
                                                                     {"replicas", "2"},
                                                                     {"partitions", "64"},
                                                                     {"placer", "hashed"},
                                                                     {"durability", "buffered"},
                                                                     {"memory", "1GiB"},
                                                                     {"dev", "true"},
                                                                     {"disk-reserve", "12345"},
                                                                     {"hint-budget", "64KiB"},
                                                                     {"anti-entropy-interval", "0s"},
                                                                     {"scrub-interval", "2h"},
                                                                     {"drop-grace", "3s"},
                                                                     {"auto-remove-after", "1h"},
                                                                     {"enable-faults", "true"},
                                                                     {"insecure-network", "true"},
                                                                     {"log", "debug"},
                                                                     {"log-file", "f"}})
    given[name] = {text, name};
  ASSERT_EQ(given.size(), all_settings().size());
  const auto settings = settings_of(given);
  ASSERT_TRUE(settings.ok()) << settings.status().to_string();
  const std::string printed = to_toml(*settings);

  const auto read = settings_from_file(file(printed));
  ASSERT_TRUE(read.ok()) << read.status().to_string() << '\n' << printed;
  const auto again = settings_of(*read);
  ASSERT_TRUE(again.ok()) << again.status().to_string();

  EXPECT_EQ(to_toml(*again), printed);
  EXPECT_EQ(again->options.data_directory, "d \"x\"");
  EXPECT_EQ(again->options.weight, 2.5);
  EXPECT_EQ(again->options.memory_bytes, uint64_t{1} << 30);
  EXPECT_EQ(again->options.placer, Placer::kHashed);
  EXPECT_EQ(again->options.join, (std::vector<std::string>{"a:1", "[::1]:2"}));
  EXPECT_EQ(again->options.join_timeout, std::chrono::minutes(1));
  EXPECT_TRUE(again->options.plan_only);
  EXPECT_EQ(again->options.hint_budget_bytes, 65'536U);
  EXPECT_EQ(again->options.round_interval.count(), 0);
  EXPECT_EQ(again->options.scrub_interval, std::chrono::hours(2));
  EXPECT_EQ(again->options.auto_remove_after, std::chrono::hours(1));
}

// A joiner takes the ring's settings unless it was given some: a default is not something given.
TEST_F(SettingsTest, FoundingSettingsThatWereNotGivenStayOpen) {
  const auto settings = settings_of({});
  ASSERT_TRUE(settings.ok());
  EXPECT_FALSE(settings->options.replicas.has_value());
  EXPECT_FALSE(settings->options.partitions.has_value());
  EXPECT_FALSE(settings->options.placer.has_value());
  EXPECT_FALSE(settings->options.rack.has_value());
  EXPECT_FALSE(settings->options.weight.has_value());

  const auto read = settings_from_file(file(to_toml(*settings)));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_FALSE(read->contains("replicas"));
  EXPECT_FALSE(read->contains("rack"));
  EXPECT_FALSE(read->contains("weight"));
  EXPECT_FALSE(settings_of(*read)->options.placer.has_value());
}

TEST_F(SettingsTest, AnAddressToJoinMustBeOneThatCanBeDialed) {
  for (const char* wrong : {"nowhere", "h:0", "h:1,:2", "h:1,,h:2"}) {
    const Status status = settings_of(flag("join", wrong)).status();
    EXPECT_NE(status.message().find("--join"), std::string::npos) << wrong << ": " << status.message();
  }
}

TEST_F(SettingsTest, AnUnknownFieldIsNamedWithItsLineAndTheNearestRightOne) {
  const Status status = settings_from_file(file("name = \"n1\"\n\nreplica = 3\n")).status();

  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("node.toml:3: replica"), std::string::npos) << status.message();
  EXPECT_NE(status.message().find("replicas?"), std::string::npos) << status.message();
}

TEST_F(SettingsTest, AWrongValueIsNamedWithItsPlace) {
  const auto read = settings_from_file(file("rack = \"a\"\nmemory = \"much\"\n"));
  ASSERT_TRUE(read.ok());
  const Status status = settings_of(*read).status();

  EXPECT_NE(status.message().find("node.toml:2: memory"), std::string::npos) << status.message();
  EXPECT_NE(settings_of(flag("replicas", "-1")).status().message().find("--replicas"), std::string::npos);
}

TEST_F(SettingsTest, ABrokenOrMissingFileIsRefusedByName) {
  EXPECT_NE(settings_from_file(file("a = \n")).status().message().find("node.toml:1"), std::string::npos);
  EXPECT_FALSE(settings_from_file((directory_ / "absent.toml").string()).ok());
  EXPECT_FALSE(settings_from_file(file("[log]\nlevel = 1\n")).ok());
}

TEST_F(SettingsTest, TheEnvironmentIsReadByTheFlagsNames) {
  ::setenv("RINGKV_DISK_RESERVE", "1MiB", 1);
  const GivenSettings given = settings_from_environment();
  ::unsetenv("RINGKV_DISK_RESERVE");

  ASSERT_TRUE(given.contains("disk-reserve"));
  EXPECT_EQ(given.at("disk-reserve").place, "RINGKV_DISK_RESERVE");
}

TEST_F(SettingsTest, DevIsASingleNodeAndGivesWayToWhatIsGiven) {
  GivenSettings given = flag("dev", "true");
  const auto alone = settings_of(given);
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(alone->options.replicas, 1U);
  EXPECT_TRUE(alone->options.bootstrap);
  EXPECT_EQ(alone->options.data_directory, "./ringkv-data");
  EXPECT_EQ(alone->options.client_address, "127.0.0.1:7401");
  EXPECT_EQ(alone->options.peer_address, "");

  given["data"] = {"elsewhere", "--data"};
  given["peer"] = {"127.0.0.1:7", "--peer"};
  EXPECT_EQ(settings_of(given)->options.data_directory, "elsewhere");
  EXPECT_EQ(settings_of(given)->options.peer_address, "127.0.0.1:7");
  EXPECT_EQ(settings_of({})->options.peer_address, "127.0.0.1:7400");
}

TEST_F(SettingsTest, WithoutDataAStartNamesTheWaysToGetSome) {
  Settings settings;
  settings.options.data_directory = (directory_ / "data").string();

  const Status status = check_start(settings);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  for (const char* way : {"--bootstrap", "--join", "--dev"})
    EXPECT_NE(status.message().find(way), std::string::npos) << status.message();

  settings.options.bootstrap = true;
  EXPECT_TRUE(check_start(settings).ok());
}

TEST_F(SettingsTest, AJoinerFoundsNothingAndCanBeReached) {
  Settings settings;
  settings.options.data_directory = (directory_ / "data").string();
  settings.options.join = {"127.0.0.1:7400"};
  EXPECT_NE(check_start(settings).message().find("--peer"), std::string::npos);

  settings.options.peer_address = "127.0.0.1:0";
  EXPECT_TRUE(check_start(settings).ok()) << check_start(settings).message();

  settings.options.bootstrap = true;
  EXPECT_NE(check_start(settings).message().find("--join"), std::string::npos);
  settings.dev = true;
  EXPECT_NE(check_start(settings).message().find("--dev"), std::string::npos);
}

class DoorSettingsTest : public SettingsTest {
 protected:
  struct Door {
    const char* advertise_flag;
    std::string Options::*address;
    std::string Options::*advertised;
  };
  static constexpr std::array<Door, 2> kDoors = {
      {{"--advertise-peer", &Options::peer_address, &Options::advertised_peer_address},
       {"--advertise-client", &Options::client_address, &Options::advertised_client_address}}};

  Settings bootstrapping() const {
    Settings settings;
    settings.options.bootstrap = true;
    settings.options.data_directory = directory_.string();
    return settings;
  }
};

TEST_F(DoorSettingsTest, AnAddressThatOthersReachNeedsConsent) {
  for (const Door& door : kDoors) {
    for (const char* address : {"0.0.0.0:7401", "[::]:7401", "10.0.0.1:7401", "[2001:db8::1]:1"}) {
      Settings settings = bootstrapping();
      settings.options.*door.address = address;
      settings.options.*door.advertised = "h:1";
      EXPECT_NE(check_start(settings).message().find("--insecure-network"), std::string::npos) << address;
      settings.insecure_network = true;
      EXPECT_TRUE(check_start(settings).ok()) << address;
    }
    for (const char* address :
         {"127.0.0.1:7401", "127.1.2.3:0", "[::1]:7401", "[::ffff:127.0.0.1]:1", "localhost:7401"}) {
      Settings settings = bootstrapping();
      settings.options.*door.address = address;
      EXPECT_TRUE(check_start(settings).ok()) << address << ": " << check_start(settings).message();
    }
  }
}

TEST_F(DoorSettingsTest, ADoorOnEveryAddressSaysAtWhichOneItIsFound) {
  for (const Door& door : kDoors) {
    for (const char* address : {"0.0.0.0:7401", "[::]:0"}) {
      Settings settings = bootstrapping();
      settings.insecure_network = true;
      settings.options.*door.address = address;
      EXPECT_NE(check_start(settings).message().find(door.advertise_flag), std::string::npos)
          << check_start(settings).message();
      for (const char* nowhere : {"0.0.0.0:7401", "[::]:7401", "10.0.0.1:0", "10.0.0.1"}) {
        settings.options.*door.advertised = nowhere;
        EXPECT_NE(check_start(settings).message().find(door.advertise_flag), std::string::npos) << nowhere;
      }
      settings.options.*door.advertised = "n1.example.org:7401";
      EXPECT_TRUE(check_start(settings).ok()) << check_start(settings).message();
    }
  }
}

}  // namespace
}  // namespace ringkv::tools
