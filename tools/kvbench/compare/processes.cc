#include "tools/kvbench/compare/processes.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

namespace ringkv::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLook{10};
constexpr int kLooksUntilServing = 2000;
constexpr int kLooksUntilKilled = 1000;
constexpr size_t kShownBytes = 600;

Status system_failure(const std::string& what) { return unavailable(what + ": " + std::strerror(errno)); }

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool listens(uint16_t port) {
  const int descriptor = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  const bool connected =
      ::connect(descriptor, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(descriptor);
  return connected;
}

[[noreturn]] void become(const std::vector<std::string>& words, const char* output, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  const int out = ::open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  if (out < 0 || in < 0) ::_exit(127);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  ::_exit(127);
}

int exit_code_of(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

}  // namespace

Result<ScratchFolder> ScratchFolder::make() {
  const char* folder = std::getenv("TMPDIR");
  std::string name = std::string(folder != nullptr && *folder != '\0' ? folder : "/tmp") + "/kvbench.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr)
    return system_failure("making a folder like " + name + " (TMPDIR names another place)");
  return ScratchFolder(name);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;  // files of a dead process, in a place for such
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

Result<ChildProcess> ChildProcess::start(const std::vector<std::string>& words, const fs::path& output) {
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid < 0) return system_failure("starting " + words[0]);
  if (pid == 0) become(words, output.c_str(), parent);
  return ChildProcess(pid, output);
}

ChildProcess::~ChildProcess() {
  if (pid_ < 0) return;
  ::kill(pid_, SIGTERM);
  for (int look = 0; look < kLooksUntilKilled && running(); ++look) std::this_thread::sleep_for(kLook);
  if (pid_ < 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool ChildProcess::running() {
  if (pid_ < 0 || ::waitpid(pid_, nullptr, WNOHANG) == 0) return pid_ >= 0;
  pid_ = -1;
  return false;
}

int ChildProcess::wait() {
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  return exit_code_of(status);
}

Status wait_for_port(ChildProcess& child, uint16_t port) {
  for (int look = 0; look < kLooksUntilServing && child.running(); ++look) {
    if (listens(port)) return {};
    std::this_thread::sleep_for(kLook);
  }
  return unavailable("it doesn't serve; its last words: " + last_lines(child.output_));
}

Result<std::vector<uint16_t>> free_ports(size_t count) {
  std::vector<int> descriptors;
  std::vector<uint16_t> ports;
  for (size_t i = 0; i < count; ++i) {
    descriptors.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    if (::bind(descriptors.back(), reinterpret_cast<const sockaddr*>(&address), size) != 0 ||
        ::getsockname(descriptors.back(), reinterpret_cast<sockaddr*>(&address), &size) != 0)
      break;
    ports.push_back(ntohs(address.sin_port));
  }
  for (const int descriptor : descriptors) ::close(descriptor);
  if (ports.size() < count) return unavailable("no free port on 127.0.0.1");
  return ports;
}

std::optional<std::string> program_in_path(const std::string& name) {
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string program = folder + "/" + name;
    if (::access(program.c_str(), X_OK) == 0) return program;
  }
  return std::nullopt;
}

std::string program_beside(const std::string& name) {
  std::error_code error;
  return (fs::read_symlink("/proc/self/exe", error).parent_path() / name).string();
}

std::string last_lines(const fs::path& file) {
  std::ifstream in(file);
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  while (text.ends_with('\n')) text.pop_back();
  if (text.size() > kShownBytes) text = "…" + text.substr(text.size() - kShownBytes);
  return text.empty() ? "(none)" : text;
}

}  // namespace ringkv::tools
