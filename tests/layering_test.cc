// Reads every #include of the tree and fails on an arrow that isn't drawn, on a forbidden header in a core,
// and on a third-party library outside its place. The rules are the tables below and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

namespace ringkv {
namespace {

namespace fs = std::filesystem;

// Room -> rooms that it may include. tests may include anything.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"include", {"include"}},
    {"base", {"base", "include"}},
    {"storage", {"storage", "base", "include"}},
    {"gossip", {"gossip", "base", "include"}},
    {"replication", {"replication", "storage", "base", "include"}},
    {"node", {"node", "replication", "gossip", "storage", "base", "include"}},
    {"tools", {"tools", "include"}},
};

// Tools that stand on the cores instead of the public face.
const std::regex kToolsOnCores("tools/(simulation/.*|kvsim\\.cc|ringlab/.*)");

struct Library {
  std::string name;
  std::regex header;
  std::regex place;  // the only files that may include it
};

const std::vector<Library> kLibraries = {
    {"OpenSSL", std::regex("openssl/.*"),
     std::regex("base/token\\.cc|node/(tls|system_random)\\.cc|tools/ringlab/.*")},
    {"RocksDB", std::regex("rocksdb/.*"), std::regex("storage/rocksdb_.*\\.(cc|h)")},
    {"xxHash", std::regex("xxhash\\.h"), std::regex("storage/record_hash\\.cc")},
    {"Boost", std::regex("boost/.*"), std::regex("node/.*")},
    {"Protobuf", std::regex("google/protobuf/.*|.*\\.pb\\.h"), std::regex("node/(wire|peer)_codec.*\\.cc")},
    {"spdlog", std::regex("(spdlog|fmt)/.*"), std::regex("node/spdlog_log\\.cc")},
    {"CLI11", std::regex("CLI/.*"), std::regex("tools/.*")},
    {"toml++", std::regex("toml\\+\\+/.*"), std::regex("tools/.*|node/config.*")},
    {"nlohmann-json", std::regex("nlohmann/.*"), std::regex("tools/.*|node/config.*")},
    {"GoogleTest", std::regex("(gtest|gmock)/.*"), std::regex("(?!)")},
    {"Google Benchmark", std::regex("benchmark/.*"), std::regex("(?!)")},
};

// A core is called with `now` and messages; nothing in it may wait, share, look at a clock or touch a file.
const std::regex kCores("(gossip|replication)/.*");
const std::set<std::string> kForbiddenInCores = {
    "thread",     "mutex",      "shared_mutex", "condition_variable",
    "future",     "atomic",     "semaphore",    "barrier",
    "latch",      "stop_token", "random",       "fstream",
    "filesystem", "iostream",   "ctime",        "time.h",
    "unistd.h",   "fcntl.h",    "signal.h",     "netdb.h",
    "poll.h"};
const std::regex kForbiddenWordInCores(
    "(steady_clock|system_clock|high_resolution_clock|random_device|thread_local)");

struct Include {
  std::string file;  // relative to the root
  int line;
  std::string header;
  bool quoted;
};

bool is_source(const fs::path& path) { return path.extension() == ".h" || path.extension() == ".cc"; }

std::vector<fs::path> sources(const fs::path& root) {
  std::vector<fs::path> found;
  for (const auto& [room, arrows] : kArrows) {
    if (!fs::exists(root / room)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / room)) {
      if (entry.is_regular_file() && is_source(entry.path())) found.push_back(entry.path());
    }
  }
  return found;
}

std::vector<Include> includes_of(const std::string& file, std::istream& text) {
  static const std::regex pattern("^\\s*#\\s*include\\s*([<\"])([^>\"]+)[>\"].*");
  std::vector<Include> found;
  std::string line;
  for (int number = 1; std::getline(text, line); ++number) {
    std::smatch match;
    if (std::regex_match(line, match, pattern)) found.push_back({file, number, match[2], match[1] == "\""});
  }
  return found;
}

std::string room_of(const std::string& path) { return path.substr(0, path.find('/')); }

// What is wrong with one include, or "".
std::string fault(const Include& include) {
  for (const Library& library : kLibraries) {
    if (!std::regex_match(include.header, library.header)) continue;
    return std::regex_match(include.file, library.place) ? "" : library.name + " outside its place";
  }
  const std::string from = room_of(include.file);
  if (!include.quoted) {
    const bool core = std::regex_match(include.file, kCores);
    const bool system = include.header.starts_with("sys/") || include.header.starts_with("arpa/") ||
                        include.header.starts_with("netinet/");
    if (core && (system || kForbiddenInCores.contains(include.header))) return "forbidden in a core";
    return "";
  }
  const std::string to = include.header.starts_with("ringkv/") ? "include" : room_of(include.header);
  if (!kArrows.contains(to)) return "not a room: includes start at the root of the tree";
  if (std::regex_match(include.file, kToolsOnCores)) return "";
  return kArrows.at(from).contains(to) ? "" : "no arrow from " + from + " to " + to;
}

TEST(Layering, EveryIncludeFollowsAnArrow) {
  const fs::path root = RINGKV_SOURCE_DIR;
  size_t seen = 0;
  for (const fs::path& path : sources(root)) {
    const std::string file = fs::relative(path, root).string();
    std::ifstream text(path);
    for (const Include& include : includes_of(file, text)) {
      ++seen;
      EXPECT_EQ(fault(include), "") << file << ":" << include.line << " includes " << include.header;
    }
  }
  EXPECT_GT(seen, 20U) << "the tree was not found at " << root;
}

TEST(Layering, CoresNameNoClockAndNoGlobalRandomness) {
  const fs::path root = RINGKV_SOURCE_DIR;
  for (const fs::path& path : sources(root)) {
    const std::string file = fs::relative(path, root).string();
    if (!std::regex_match(file, kCores)) continue;
    std::ifstream text(path);
    std::string line;
    for (int number = 1; std::getline(text, line); ++number) {
      EXPECT_FALSE(std::regex_search(line, kForbiddenWordInCores)) << file << ":" << number << ": " << line;
    }
  }
}

// A file that asks planted() is compiled a second time for kvsim, or its plants would never grow; a header's
// code would be in other programs too.
TEST(Layering, FilesWithPlantsAreCompiledForKvsimAlone) {
  const fs::path root = RINGKV_SOURCE_DIR;
  std::set<std::string> asking;
  for (const fs::path& path : sources(root)) {
    const std::string file = fs::relative(path, root).string();
    std::ifstream text(path);
    for (const Include& include : includes_of(file, text)) {
      if (include.header == "base/plants.h" && room_of(file) != "tools") asking.insert(file);
    }
  }
  std::set<std::string> planted;
  std::ifstream list(root / "cmake/Plants.cmake");
  const std::regex source("\\s*([a-z_]+/[a-z_]+\\.(cc|h))");
  std::smatch match;
  for (std::string line; std::getline(list, line);) {
    if (std::regex_match(line, match, source)) planted.insert(match[1]);
  }
  EXPECT_EQ(asking, planted);
  for (const std::string& file : asking) EXPECT_FALSE(file.ends_with(".h")) << file;
}

// The test itself can fail: each rule refuses its planted fault.
TEST(Layering, APlantedFaultIsFound) {
  EXPECT_NE(fault({"storage/a.cc", 1, "gossip/member.h", true}), "");
  EXPECT_NE(fault({"gossip/a.cc", 1, "replication/ring.h", true}), "");
  EXPECT_NE(fault({"base/a.h", 1, "node/node.h", true}), "");
  EXPECT_NE(fault({"tools/kvctl.cc", 1, "node/node.h", true}), "");
  EXPECT_NE(fault({"replication/a.cc", 1, "mutex", false}), "");
  EXPECT_NE(fault({"gossip/a.cc", 1, "sys/socket.h", false}), "");
  EXPECT_NE(fault({"storage/record_store.cc", 1, "rocksdb/db.h", false}), "");
  EXPECT_NE(fault({"include/ringkv/db.h", 1, "boost/asio.hpp", false}), "");
  EXPECT_NE(fault({"node/node.cc", 1, "wire.pb.h", true}), "");
  EXPECT_EQ(fault({"node/asio_transport.cc", 1, "boost/asio.hpp", false}), "");
  EXPECT_EQ(fault({"replication/a.cc", 1, "storage/record.h", true}), "");
  EXPECT_EQ(fault({"storage/a.cc", 1, "mutex", false}), "");
}

}  // namespace
}  // namespace ringkv
