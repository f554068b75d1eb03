#include "tools/kvnode/service_notice.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace ringkv::tools {
namespace {

// A service manager's end: a datagram socket by the name in $NOTIFY_SOCKET.
class ServiceManager {
 public:
  explicit ServiceManager(const std::string& name) : name_(name), socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0)
        << std::strerror(errno);
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }
  ~ServiceManager() {
    ::unsetenv("NOTIFY_SOCKET");
    ::close(socket_);
    if (name_[0] != '@') ::unlink(name_.c_str());
  }

  std::string heard() const {
    std::array<char, 64> text{};
    const ssize_t length = ::recv(socket_, text.data(), text.size(), MSG_DONTWAIT);
    return length < 0 ? "" : std::string(text.data(), static_cast<size_t>(length));
  }

 private:
  const std::string name_;
  const int socket_;
};

TEST(ServiceNotice, GoesToASocketFile) {
  const ServiceManager manager(testing::TempDir() + "ringkv-notice-" + std::to_string(::getpid()));

  EXPECT_TRUE(notify_service_manager("READY=1").ok());
  EXPECT_EQ(manager.heard(), "READY=1");
  EXPECT_TRUE(notify_service_manager("STOPPING=1").ok());
  EXPECT_EQ(manager.heard(), "STOPPING=1");
}

TEST(ServiceNotice, GoesToAnAbstractSocket) {
  const ServiceManager manager("@ringkv-notice-" + std::to_string(::getpid()));

  EXPECT_TRUE(notify_service_manager("READY=1").ok());
  EXPECT_EQ(manager.heard(), "READY=1");
}

TEST(ServiceNotice, NobodyWhoWantsToHearItIsFine) {
  ::unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(notify_service_manager("READY=1").ok());
  ::setenv("NOTIFY_SOCKET", "", 1);
  EXPECT_TRUE(notify_service_manager("READY=1").ok());
  ::unsetenv("NOTIFY_SOCKET");
}

TEST(ServiceNotice, ASocketThatCannotBeIsNamed) {
  for (const std::string& name :
       {std::string("relative"), std::string("/nowhere/at/all"), "/" + std::string(200, 'x')}) {
    ::setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_NE(notify_service_manager("READY=1").message().find(name), std::string::npos) << name;
  }
  ::unsetenv("NOTIFY_SOCKET");
}

}  // namespace
}  // namespace ringkv::tools
