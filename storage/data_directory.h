// A node's directory on disk:
//
//   DIR/        mode 0700
//     LOCK      the pid of the one process that has it open (held by an advisory lock)
//     FORMAT    the version of everything below; a newer one is refused with both numbers
//     IDENTITY  node id, disk id, name, cluster id: made once
//     db/       RocksDB
//     damaged/  table files of db/ that couldn't be read, set aside
//     log/      for --log-file
//
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/random.h"
#include "ringkv/status.h"

namespace ringkv {

inline constexpr uint32_t kFormatVersion = 1;

struct Identity {
  NodeId node;
  DiskId disk;
  ClusterId cluster;
  std::string name;
  bool founded = false;  // db/ holds a ring since then: a start that finds none has lost its data

  friend bool operator==(const Identity&, const Identity&) = default;
};

// Open for as long as it lives. Blocks; used before the loop starts.
class DataDirectory {
 public:
  // Makes the directory when it is missing. FORBIDDEN when another live process has it (names the pid) or
  // when FORMAT is newer; CORRUPTION when IDENTITY is damaged; UNAVAILABLE for errors of the file system,
  // naming the file.
  static Result<std::unique_ptr<DataDirectory>> open(const std::filesystem::path& directory);

  ~DataDirectory();
  DataDirectory(const DataDirectory&) = delete;
  DataDirectory& operator=(const DataDirectory&) = delete;

  bool has_identity() const { return static_cast<bool>(identity_.node); }
  const Identity& identity() const { return identity_; }

  // At the first start, and again by one that has never become a member of a cluster. Written to a temporary
  // name, synced, renamed, the directory synced.
  Status write_identity(const Identity& identity);

  // Once the ring is in db/, with the cluster and the node id that a joiner has been given: from then on
  // db/ is never made anew.
  Status mark_founded(const Identity& identity);

  std::filesystem::path db_path() const { return path_ / "db"; }
  std::filesystem::path log_path() const { return path_ / "log"; }
  const std::filesystem::path& path() const { return path_; }

 private:
  DataDirectory(std::filesystem::path path, int lock_descriptor);

  const std::filesystem::path path_;
  const int lock_descriptor_;
  Identity identity_;
};

}  // namespace ringkv
