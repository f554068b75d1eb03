#include "storage/data_directory.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "tests/storage/temp_directory.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

const Identity kIdentity{.node = {0x1234}, .disk = {0xABCDEF0123456789}, .cluster = {7}, .name = "n 1"};

unsigned mode_of(const fs::path& path) {
  struct stat found {};
  EXPECT_EQ(stat(path.c_str(), &found), 0);
  return found.st_mode & 0777U;
}

class DataDirectoryTest : public testing::Test {
 protected:
  Result<std::unique_ptr<DataDirectory>> open() const { return DataDirectory::open(path_); }
  Status refusal() const {
    const auto opened = open();
    EXPECT_FALSE(opened.ok());
    return opened.ok() ? Status() : opened.status();
  }

  const TempDirectory parent_;
  const fs::path path_ = parent_.path() / "some" / "data";
};

TEST_F(DataDirectoryTest, IsMadeForItsOwnerAlone) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status().to_string();
  EXPECT_EQ(mode_of(path_), 0700U);
  EXPECT_EQ(read_file(path_ / "FORMAT"), "1\n");
  EXPECT_FALSE((*directory)->has_identity());
  EXPECT_EQ((*directory)->db_path(), path_ / "db");
  EXPECT_EQ((*directory)->log_path(), path_ / "log");
}

TEST_F(DataDirectoryTest, IsClosedToOthersWhenItWasOpenToThem) {
  fs::create_directories(path_);
  fs::permissions(path_, fs::perms(0755));
  ASSERT_TRUE(open().ok());
  EXPECT_EQ(mode_of(path_), 0700U);
}

TEST_F(DataDirectoryTest, KeepsItsIdentityWhichIsMadeOnce) {
  {
    const auto directory = open();
    ASSERT_TRUE((*directory)->write_identity(kIdentity).ok());
    EXPECT_EQ((*directory)->identity(), kIdentity);
    EXPECT_EQ((*directory)->write_identity(kIdentity).code(), StatusCode::kForbidden);
  }
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status().to_string();
  ASSERT_TRUE((*directory)->has_identity());
  EXPECT_EQ((*directory)->identity(), kIdentity);
  EXPECT_EQ((*directory)->write_identity(kIdentity).code(), StatusCode::kForbidden);
}

TEST_F(DataDirectoryTest, RefusesAnIdentityThatItCouldNotReadBack) {
  const auto directory = open();
  Identity identity = kIdentity;
  for (const std::string& name : {std::string(), std::string("two\nlines"), std::string(4000, 'x')}) {
    identity.name = name;
    EXPECT_EQ((*directory)->write_identity(identity).code(), StatusCode::kInvalidArgument);
  }
  EXPECT_FALSE((*directory)->has_identity());
  EXPECT_FALSE(fs::exists(path_ / "IDENTITY"));
}

TEST_F(DataDirectoryTest, IsRefusedToASecondOpenInTheSameProcess) {
  const auto first = open();
  const Status refused = refusal();
  EXPECT_EQ(refused.code(), StatusCode::kForbidden);
  EXPECT_NE(refused.message().find(cat("process ", getpid())), std::string::npos) << refused.message();
}

// A child holds the directory until its pipe is closed; it is named, and its death frees the directory though
// its pid stays in LOCK.
TEST_F(DataDirectoryTest, IsHeldByALiveProcessAndTakenOverFromADeadOne) {
  int ready[2], release[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(release), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(release[1]);
    const auto held = open();
    char byte = held.ok() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1 && read(release[0], &byte, 1) == 0) _exit(0);
    _exit(1);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'y');
  const Status refused = refusal();
  EXPECT_EQ(refused.code(), StatusCode::kForbidden);
  EXPECT_NE(refused.message().find(cat("process ", child)), std::string::npos) << refused.message();

  close(release[1]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(read_file(path_ / "LOCK"), cat(child, "\n"));
  EXPECT_TRUE(open().ok());
  EXPECT_EQ(read_file(path_ / "LOCK"), cat(getpid(), "\n"));
  for (const int descriptor : {ready[0], ready[1], release[0]}) close(descriptor);
}

TEST_F(DataDirectoryTest, RefusesANewerFormatNamingBoth) {
  ASSERT_TRUE(open().ok());
  write_file(path_ / "FORMAT", "7\n");
  const Status refused = refusal();
  EXPECT_EQ(refused.code(), StatusCode::kForbidden);
  EXPECT_NE(refused.message().find("format 7"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("format 1"), std::string::npos) << refused.message();
  write_file(path_ / "FORMAT", "1\n");
  EXPECT_TRUE(open().ok()) << "a refused open kept the lock";
}

TEST_F(DataDirectoryTest, CallsADamagedFormatCorruption) {
  ASSERT_TRUE(open().ok());
  for (const char* text : {"", "\n", "x\n", "1", "0\n", "1 \n", "99999999999999999999999\n"}) {
    write_file(path_ / "FORMAT", text);
    EXPECT_EQ(refusal().code(), StatusCode::kCorruption) << text;
  }
  ASSERT_TRUE(fs::remove(path_ / "FORMAT"));
  write_file(path_ / "IDENTITY", "");
  EXPECT_EQ(refusal().code(), StatusCode::kCorruption) << "no FORMAT beside an IDENTITY";
}

TEST_F(DataDirectoryTest, CallsAnyDamageToIdentityCorruption) {
  ASSERT_TRUE((*open())->write_identity(kIdentity).ok());
  const std::string whole = read_file(path_ / "IDENTITY");
  ASSERT_GT(whole.size(), 80U);
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    write_file(path_ / "IDENTITY", damaged);
    EXPECT_EQ(refusal().code(), StatusCode::kCorruption) << "byte " << i;
    write_file(path_ / "IDENTITY", whole.substr(0, i));
    EXPECT_EQ(refusal().code(), StatusCode::kCorruption) << "cut to " << i;
  }
  write_file(path_ / "IDENTITY", whole + "more\n");
  const Status refused = refusal();
  EXPECT_EQ(refused.code(), StatusCode::kCorruption);
  EXPECT_NE(refused.message().find((path_ / "IDENTITY").string()), std::string::npos) << refused.message();
}

// What a crash within write_identity leaves: a part under another name.
TEST_F(DataDirectoryTest, IgnoresAnIdentityThatWasNeverFinished) {
  ASSERT_TRUE(open().ok());
  write_file(path_ / "IDENTITY.new", "node 00");
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status().to_string();
  EXPECT_FALSE((*directory)->has_identity());
  ASSERT_TRUE((*directory)->write_identity(kIdentity).ok());
  EXPECT_FALSE(fs::exists(path_ / "IDENTITY.new"));
}

TEST_F(DataDirectoryTest, NamesThePathThatCannotBeUsed) {
  write_file(parent_.path() / "file", "");
  for (const fs::path& path : {parent_.path() / "file", parent_.path() / "file" / "below"}) {
    const auto opened = DataDirectory::open(path);
    ASSERT_FALSE(opened.ok());
    EXPECT_EQ(opened.status().code(), StatusCode::kUnavailable);
    EXPECT_NE(opened.status().message().find(path.string()), std::string::npos) << opened.status().message();
  }
}

}  // namespace
}  // namespace ringkv
