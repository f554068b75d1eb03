// FORMAT is the version in decimal and a line end. IDENTITY is lines of text, numbers in hexadecimal:
//
//   node 0123456789abcdef
//   disk 0123456789abcdef
//   cluster 0123456789abcdef
//   name n1
//   founded yes                or no: db/ holds no ring yet
//   check 0123456789abcdef     the first 8 bytes of SHA-1 over the lines before it
#include "storage/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "base/token.h"

namespace ringkv {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFileBytesMax = 4096;

Status system_failure(std::string_view what, const fs::path& path) {
  std::string message = cat(what, " ", path.string(), ": ", std::strerror(errno));
  if (errno == ENOSPC || errno == EDQUOT) return out_of_space(std::move(message));
  return unavailable(std::move(message));
}

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

// Nothing when there is no such file. More than a file of ours can hold is cut off, and then doesn't parse.
Result<std::optional<std::string>> read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::optional<std::string>();
    return system_failure("opening", path);
  }
  std::string contents(kFileBytesMax, '\0');
  const ssize_t size = ::pread(file.number(), contents.data(), contents.size(), 0);
  if (size < 0) return system_failure("reading", path);
  contents.resize(static_cast<size_t>(size));
  return std::optional<std::string>(std::move(contents));
}

Status sync_directory(const fs::path& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory || ::fsync(directory.number()) != 0) return system_failure("syncing", path);
  return {};
}

// After a crash at any moment the file is absent, or whole.
Status write_file(const fs::path& path, std::string_view contents) {
  fs::path unfinished = path;
  unfinished += ".new";
  const Descriptor file(::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file) return system_failure("creating", unfinished);
  errno = ENOSPC;  // what a short write means
  if (::write(file.number(), contents.data(), contents.size()) != static_cast<ssize_t>(contents.size())) {
    return system_failure("writing", unfinished);
  }
  if (::fsync(file.number()) != 0) return system_failure("syncing", unfinished);
  if (::rename(unfinished.c_str(), path.c_str()) != 0) return system_failure("renaming", unfinished);
  return sync_directory(path.parent_path());
}

Status make_directory(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path.parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return system_failure("creating", path);
  if (!fs::is_directory(path, error)) return unavailable(cat(path.string(), " is not a directory"));
  return {};
}

// The lock goes with the descriptor, so with the process: a pid left behind by a dead one holds nothing.
Result<int> take_lock(const fs::path& directory) {
  const fs::path path = directory / "LOCK";
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return system_failure("opening", path);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_failure("locking", path);
    const auto holder = read_file(path);
    std::string pid = holder.ok() && *holder ? **holder : "";
    while (!pid.empty() && pid.back() == '\n') pid.pop_back();
    return forbidden(cat(directory.string(), " is in use by process ", pid.empty() ? "(starting)" : pid,
                         "; stop it first, or choose another directory"));
  }
  const std::string pid = cat(::getpid(), "\n");
  errno = ENOSPC;
  if (::pwrite(file.number(), pid.data(), pid.size(), 0) != static_cast<ssize_t>(pid.size()) ||
      ::ftruncate(file.number(), static_cast<off_t>(pid.size())) != 0) {
    return system_failure("writing", path);
  }
  return file.release();
}

// Decimal digits and one line end.
std::optional<uint64_t> parse_format(std::string_view text) {
  if (text.size() < 2 || text.size() > 10 || text.back() != '\n') return std::nullopt;
  uint64_t version = 0;
  for (const char digit : text.substr(0, text.size() - 1)) {
    if (digit < '0' || digit > '9') return std::nullopt;
    version = version * 10 + static_cast<uint64_t>(digit - '0');
  }
  return version;
}

Status check_format(const fs::path& directory) {
  const fs::path path = directory / "FORMAT";
  const auto contents = read_file(path);
  if (!contents.ok()) return contents.status();
  if (!*contents) {
    std::error_code error;
    for (const char* name : {"IDENTITY", "db"}) {
      if (!fs::exists(directory / name, error)) continue;
      return corruption(cat(path.string(), " is missing though there is ", name, " beside it"));
    }
    return write_file(path, cat(kFormatVersion, "\n"));
  }
  const std::optional<uint64_t> version = parse_format(**contents);
  if (!version || *version == 0) return corruption(cat(path.string(), " is damaged: it must hold a number"));
  if (*version > kFormatVersion) {
    return forbidden(cat(directory.string(), " has format ", *version, ", newer than format ", kFormatVersion,
                         " of this program; use the version that wrote it, or a later one"));
  }
  return {};
}

std::string check_of(std::string_view lines) { return hex(token_of(sha1_of(lines))); }

std::string encode(const Identity& identity) {
  const std::string lines = cat("node ", hex(identity.node.value), "\ndisk ", hex(identity.disk.value),
                                "\ncluster ", hex(identity.cluster.value), "\nname ", identity.name,
                                "\nfounded ", identity.founded ? "yes" : "no", "\n");
  return cat(lines, "check ", check_of(lines), "\n");
}

// The rest of a line that begins with `name` and one more byte; takes the line off `text`.
std::string_view take_line(std::string_view& text, std::string_view name) {
  const size_t end = text.find('\n');
  if (end == std::string_view::npos || end <= name.size()) return {};
  const std::string_view value = text.substr(name.size() + 1, end - name.size() - 1);
  text.remove_prefix(end + 1);
  return value;
}

std::optional<Identity> decode(std::string_view text) {
  const std::string_view all = text;
  Identity identity;
  identity.node.value = from_hex(take_line(text, "node")).value_or(0);
  identity.disk.value = from_hex(take_line(text, "disk")).value_or(0);
  identity.cluster.value = from_hex(take_line(text, "cluster")).value_or(0);
  identity.name = take_line(text, "name");
  identity.founded = take_line(text, "founded") == "yes";
  // Only what we would write is right, to the byte.
  if (!identity.node || encode(identity) != all) return std::nullopt;
  return identity;
}

Result<Identity> read_identity(const fs::path& directory) {
  const fs::path path = directory / "IDENTITY";
  const auto contents = read_file(path);
  if (!contents.ok()) return contents.status();
  if (!*contents) return Identity();
  const std::optional<Identity> identity = decode(**contents);
  if (identity) return *identity;
  return corruption(cat(path.string(), " is damaged; restore it, or move ", directory.string(),
                        " away and let the node join again empty"));
}

}  // namespace

Result<std::unique_ptr<DataDirectory>> DataDirectory::open(const fs::path& directory) {
  Status status = make_directory(directory);
  if (!status.ok()) return status;
  const Result<int> lock = take_lock(directory);
  if (!lock.ok()) return lock.status();
  std::unique_ptr<DataDirectory> opened(new DataDirectory(directory, *lock));

  if (::chmod(directory.c_str(), 0700) != 0) return system_failure("closing to others", directory);
  status = check_format(directory);
  if (!status.ok()) return status;
  Result<Identity> identity = read_identity(directory);
  if (!identity.ok()) return identity.status();
  opened->identity_ = std::move(*identity);
  return opened;
}

DataDirectory::DataDirectory(fs::path path, int lock_descriptor)
    : path_(std::move(path)), lock_descriptor_(lock_descriptor) {}

DataDirectory::~DataDirectory() { ::close(lock_descriptor_); }

Status DataDirectory::write_identity(const Identity& identity) {
  const fs::path path = path_ / "IDENTITY";
  // Until it belongs to a cluster nobody relies on it.
  if (has_identity() && identity_.cluster)
    return forbidden(cat(path.string(), " exists; an identity is made once"));
  if (!identity.node || identity.name.empty() || identity.name.find('\n') != std::string::npos ||
      identity.name.size() > kFileBytesMax / 2) {
    return invalid_argument(
        cat("an identity needs a node id and a name of one line, not ", display_key(identity.name)));
  }
  const Status status = write_file(path, encode(identity));
  if (!status.ok()) return status;
  identity_ = identity;
  return {};
}

Status DataDirectory::mark_founded(const Identity& identity) {
  Identity founded = identity;
  founded.founded = true;
  const Status status = write_file(path_ / "IDENTITY", encode(founded));
  if (status.ok()) identity_ = founded;
  return status;
}

}  // namespace ringkv
