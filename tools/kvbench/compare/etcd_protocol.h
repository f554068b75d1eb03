// etcd's own: gRPC (Put and Range of etcdserverpb.KV), which is a stream of HTTP/2 for each request. Its
// gateway for JSON would be simpler and cost it a second hop.
#pragma once

#include <deque>
#include <unordered_map>

#include "tools/kvbench/compare/protocol.h"

namespace ringkv::tools {

class EtcdProtocol final : public Protocol {
 public:
  // A request is one frame of HTTP/2, and those take 16 KiB.
  static constexpr uint64_t kValueBytesMax = 16'000;

  void open(std::string& out) override;
  void put(uint32_t slot, std::string_view key, std::string_view value, std::string& out) override;
  void get(uint32_t slot, std::string_view key, std::string& out) override;
  bool receive(std::string& in, std::string& out, std::vector<Ended>& ended) override;

 private:
  struct Stream {
    uint32_t slot = 0;
    bool get = false;
    std::string answer;
  };
  struct Frame;

  void call(const Stream& stream, std::string_view method, const std::string& message, std::string& out);
  void send_waiting(std::string& out);
  bool on_frame(const Frame& frame, std::string& out, std::vector<Ended>& ended);
  void on_end(uint32_t stream, bool reset, std::vector<Ended>& ended);

  uint32_t next_stream_ = 1;
  int64_t window_ = 65'535;  // bytes of messages that the other end takes yet
  struct Waiting {
    std::string frames;
    int64_t data_bytes = 0;
  };
  std::deque<Waiting> waiting_;  // for the window
  std::unordered_map<uint32_t, Stream> streams_;
};

}  // namespace ringkv::tools
