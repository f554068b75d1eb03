#include "tools/kvnode/settings.h"

#include <gtest/gtest.h>

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
                                                                     {"client", "127.0.0.1:0"},
                                                                     {"bootstrap", "true"},
                                                                     {"replicas", "2"},
                                                                     {"partitions", "64"},
                                                                     {"placer", "hashed"},
                                                                     {"durability", "buffered"},
                                                                     {"memory", "1GiB"},
                                                                     {"dev", "true"},
                                                                     {"disk-reserve", "12345"},
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

  given["data"] = {"elsewhere", "--data"};
  EXPECT_EQ(settings_of(given)->options.data_directory, "elsewhere");
}

TEST_F(SettingsTest, WithoutDataAStartNamesTheWaysToGetSome) {
  Settings settings;
  settings.options.client_address = "127.0.0.1:0";
  settings.options.data_directory = (directory_ / "data").string();

  const Status status = check_start(settings);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("--bootstrap"), std::string::npos);
  EXPECT_NE(status.message().find("--dev"), std::string::npos);

  settings.options.bootstrap = true;
  EXPECT_TRUE(check_start(settings).ok());
}

TEST_F(SettingsTest, AnAddressThatOthersReachNeedsConsent) {
  Settings settings;
  settings.options.bootstrap = true;
  settings.options.data_directory = directory_.string();
  for (const char* address : {"0.0.0.0:7401", "[::]:7401", "10.0.0.1:7401", "[2001:db8::1]:1"}) {
    settings.options.client_address = address;
    settings.insecure_network = false;
    EXPECT_NE(check_start(settings).message().find("--insecure-network"), std::string::npos) << address;
    settings.insecure_network = true;
    EXPECT_TRUE(check_start(settings).ok()) << address;
  }
  settings.insecure_network = false;
  for (const char* address :
       {"127.0.0.1:7401", "127.1.2.3:0", "[::1]:7401", "[::ffff:127.0.0.1]:1", "localhost:7401"}) {
    settings.options.client_address = address;
    EXPECT_TRUE(check_start(settings).ok()) << address << ": " << check_start(settings).message();
  }
}

}  // namespace
}  // namespace ringkv::tools
