// A store that keeps what it is asked and answers what it is told.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "base/client_message.h"
#include "ringkv/store.h"

namespace ringkv {

class RecordingStore final : public Store {
 public:
  std::vector<ClientRequest> asked;
  ClientReply reply;

  template <class Body>
  const Body& last() const {
    return std::get<Body>(asked.back().body);
  }

 private:
  void submit(ClientRequest request, std::function<void(ClientReply)> done) override {
    asked.push_back(std::move(request));
    done(reply);
  }
};

}  // namespace ringkv
