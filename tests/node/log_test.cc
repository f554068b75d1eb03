#include "ringkv/log.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>

namespace ringkv {
namespace {

namespace fs = std::filesystem;

class LogFileTest : public testing::Test {
 protected:
  LogFileTest() {
    std::string pattern = testing::TempDir() + "ringkv-log-XXXXXX";
    directory_ = ::mkdtemp(pattern.data());
  }
  ~LogFileTest() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  static std::vector<std::string> lines_of(const std::string& file) {
    std::ifstream in(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }

 private:
  fs::path directory_;
};

TEST_F(LogFileTest, ALineHasTimeSeverityNodeRoomAndMessage) {
  auto log = LogFile::open({.file = path("a.log"), .node = "n1"});
  ASSERT_TRUE(log.ok()) << log.status().to_string();

  (*log)->write(LogSeverity::kWarning, "storage", "disk {nearly} full");

  const auto lines = lines_of(path("a.log"));
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(std::regex_match(
      lines[0],
      std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z warning n1 storage: disk \{nearly\} full)")))
      << lines[0];
}

TEST_F(LogFileTest, ARepeatedLineIsCountedNotRepeated) {
  auto log = LogFile::open({.file = path("a.log"), .node = "n1"});
  ASSERT_TRUE(log.ok());

  for (int i = 0; i < 1000; ++i) (*log)->write(LogSeverity::kInfo, "node", "again");
  (*log)->write(LogSeverity::kInfo, "node", "something else");

  const auto lines = lines_of(path("a.log"));
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_NE(lines[1].find("999 times more"), std::string::npos) << lines[1];
}

TEST_F(LogFileTest, RepeatsAreMentionedWhenTheLogCloses) {
  {
    auto log = LogFile::open({.file = path("a.log"), .node = "n1"});
    ASSERT_TRUE(log.ok());
    for (int i = 0; i < 3; ++i) (*log)->write(LogSeverity::kInfo, "node", "again");
  }

  EXPECT_EQ(lines_of(path("a.log")).size(), 2U);
}

TEST_F(LogFileTest, ReopenGoesOnInANewFileAfterARename) {
  auto log = LogFile::open({.file = path("a.log"), .node = "n1"});
  ASSERT_TRUE(log.ok());
  (*log)->write(LogSeverity::kInfo, "node", "first");

  fs::rename(path("a.log"), path("a.log.1"));
  (*log)->reopen();
  (*log)->write(LogSeverity::kInfo, "node", "second");

  EXPECT_EQ(lines_of(path("a.log.1")).size(), 1U);
  EXPECT_EQ(lines_of(path("a.log")).size(), 1U);
}

TEST_F(LogFileTest, AFileThatCannotBeOpenedIsRefusedByName) {
  std::ofstream(path("plain")) << "x";

  auto log = LogFile::open({.file = path("plain") + "/a.log", .node = "n1"});

  EXPECT_EQ(log.status().code(), StatusCode::kInvalidArgument);
  EXPECT_NE(log.status().message().find("plain/a.log"), std::string::npos);
}

}  // namespace
}  // namespace ringkv
