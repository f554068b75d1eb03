#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>

#include "tools/common/standard_descriptors.h"
#include "tools/common/units.h"
#include "tools/kvctl/json_lines.h"
#include "tools/kvctl/loader.h"
#include "tools/kvctl/progress.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

namespace fs = std::filesystem;

// FILE.progress: "LINE OFFSET", the last acknowledged line and the byte where the next one begins. Replaced
// in one piece, so that a crash leaves the old one or the new one.
class ProgressFile {
 public:
  explicit ProgressFile(const std::string& file) : path_(file + ".progress") {}

  Result<Position> read() const {
    std::ifstream in(path_);
    if (!in) return Position{};
    Position position;
    if (!(in >> position.line >> position.offset))
      return invalid_argument(path_ + " can't be read as progress; remove it to begin with the first line");
    return position;
  }

  Status write(const Position& position) {
    if (position == written_) return {};
    const std::string draft = path_ + ".new";
    std::ofstream out(draft, std::ios::trunc);
    out << position.line << ' ' << position.offset << '\n';
    out.close();
    std::error_code error;
    if (out) fs::rename(draft, path_, error);
    if (!out || error) return invalid_argument(path_ + ": can't be written");
    written_ = position;
    return {};
  }

  void remove() const { (void)std::remove(path_.c_str()); }

 private:
  std::string path_;
  std::optional<Position> written_;
};

// Moves to where an earlier load stopped. The byte before must end a line, else it was another file.
Status seek(std::istream& in, const Position& position, const std::string& file) {
  if (position.offset == 0) return {};
  in.seekg(static_cast<std::streamoff>(position.offset) - 1);
  const int last = in.get();
  if (last == '\n') return {};
  // The last line may have no end; then nothing is left to load.
  if (last != std::char_traits<char>::eof() && in.peek() == std::char_traits<char>::eof()) return {};
  return invalid_argument(file + ".progress belongs to another file than " + file +
                          "; remove it to begin with the first line");
}

class Load {
 public:
  Load(Session& session, const LoadVerb& verb)
      : verb_(verb),
        from_file_(verb.file != "-"),
        kept_(verb.file),
        progress_("loaded", from_file_ ? size_of(verb.file) : 0),
        loader_(session.store(), session.put_options(), {},
                [this](uint64_t line, const Status& why) { refuse(line, why); }) {}

  int run() {
    std::ifstream file;
    if (from_file_) {
      file.open(verb_.file, std::ios::binary);
      if (!file) return fail(invalid_argument(verb_.file + ": can't be opened"));
    }
    if (!from_file_) {
      if (Status status = check_standard_input(); !status.ok()) return fail(status);
    }
    std::istream& in = from_file_ ? static_cast<std::istream&>(file) : std::cin;
    Status status = find_start(in);
    if (!status.ok()) return fail(status);
    status = read_all(in);
    const Status finished = loader_.finish();
    if (status.ok()) status = finished;
    if (status.ok()) status = keep();
    return end(status);
  }

 private:
  static uint64_t size_of(const std::string& file) {
    std::error_code error;
    const uint64_t size = fs::file_size(file, error);
    return error ? 0 : size;
  }

  Status find_start(std::istream& in) {
    if (!from_file_) return {};
    if (!verb_.resume) {
      kept_.remove();
      return {};
    }
    const Result<Position> position = kept_.read();
    if (!position.ok()) return position.status();
    at_ = *position;
    if (at_.line > 0) loader_.skip(at_);
    return seek(in, at_, verb_.file);
  }

  Status read_all(std::istream& in) {
    for (std::string line; std::getline(in, line);) {
      ++at_.line;
      at_.offset += line.size() + (in.eof() ? 0 : 1);
      const Status status = take(line);
      if (!status.ok()) return status;
      done_.lines += 1;
      done_.bytes = at_.offset;
      progress_.update(done_);
      if (std::chrono::steady_clock::now() - kept_at_ > std::chrono::seconds(1)) {
        const Status kept = keep();
        if (!kept.ok()) return kept;
      }
    }
    if (in.bad())
      return invalid_argument(verb_.file + ": reading failed after line " + std::to_string(at_.line));
    return {};
  }

  Status take(const std::string& line) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      loader_.skip(at_);
      return {};
    }
    Result<LoadEntry> entry = parse_load_line(line);
    if (entry.ok()) return loader_.add(at_, *std::move(entry));
    refuse(at_.line, entry.status());
    loader_.skip(at_);
    return {};
  }

  void refuse(uint64_t line, const Status& why) {
    progress_.clear();
    ++refused_;
    complain("line " + std::to_string(line) + ": " + why.to_string());
  }

  Status keep() {
    kept_at_ = std::chrono::steady_clock::now();
    if (!from_file_) return {};
    const Position acknowledged = loader_.acknowledged();
    return acknowledged.line == 0 ? Status() : kept_.write(acknowledged);
  }

  int end(const Status& status) {
    progress_.clear();
    if (!status.ok()) {
      (void)keep();
      complain("stopped after " + counted(loader_.stored(), "stored key") + "; all lines up to " +
               std::to_string(loader_.acknowledged().line) + " are done" +
               (from_file_ ? "; go on with: kvctl load --resume " + verb_.file : ""));
      return fail(status);
    }
    complain("loaded " + progress_.summary(done_) + "; " + std::to_string(loader_.stored()) + " stored, " +
             std::to_string(refused_) + " refused");
    return refused_ == 0 ? kDone : kWrongUse;
  }

  const LoadVerb& verb_;
  const bool from_file_;
  ProgressFile kept_;
  Progress progress_;
  Loader loader_;
  Position at_;
  Amount done_;
  uint64_t refused_ = 0;
  std::chrono::steady_clock::time_point kept_at_ = std::chrono::steady_clock::now();
};

}  // namespace

int run(Session& session, const LoadVerb& verb) { return Load(session, verb).run(); }

}  // namespace ringkv::tools
