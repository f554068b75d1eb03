// What the public calls make of a reply.
#pragma once

#include <future>
#include <string>
#include <utility>
#include <variant>

#include "base/client_message.h"

namespace ringkv {

template <class T>
Result<T> result_from(ClientReply reply) {
  if (!reply.status.ok()) return std::move(reply.status);
  if (T* body = std::get_if<T>(&reply.body)) return std::move(*body);
  return corruption("the node answered something else than what it was asked");
}

// Waits for the callback of `submit`, which takes one.
template <class Submit>
ClientReply await_reply(const Submit& submit) {
  std::promise<ClientReply> answered;
  submit([&answered](ClientReply reply) { answered.set_value(std::move(reply)); });
  return answered.get_future().get();
}

}  // namespace ringkv
