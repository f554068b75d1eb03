#include "node/seen_contexts.h"

#include <utility>

#include "storage/record_codec.h"

namespace ringkv {
namespace {

// Both in one. Where the two are more than a context may hold, the newer: a put must not be refused for it.
std::string joined(std::string_view known, std::string_view arrived, CausalContext context, Token token) {
  const Result<CausalContext> earlier = decode_client_context(known, token);
  if (!earlier.ok()) return std::string(arrived);
  context.join(*earlier);
  if (context.vector.entries().size() > kContextActorsMax) return std::string(arrived);
  return encode_client_context(context, token);
}

}  // namespace

std::optional<SeenContexts::Key> SeenContexts::key_of(const ClientRequest& request) {
  const auto named = [](const auto& body) {
    return Key{identity_of(body.bucket, body.key), token_of(digest_of(body.bucket, body.key))};
  };
  if (const auto* put = std::get_if<ClientPut>(&request.body)) return named(*put);
  if (const auto* get = std::get_if<ClientGet>(&request.body)) return named(*get);
  return std::nullopt;
}

void SeenContexts::note(const Key& key, const ClientReply& reply) {
  if (!reply.status.ok()) return;
  const auto* got = std::get_if<GetResult>(&reply.body);
  note(key.identity, key.token, got != nullptr ? got->context.bytes() : reply.seen);
}

void SeenContexts::note(const KeyIdentity& key, Token token, std::string_view context) {
  if (context.empty()) return;
  const auto known = by_key_.find(key);
  if (known != by_key_.end()) {
    entries_.splice(entries_.begin(), entries_, known->second);
    if (known->second->context == context) return;
  }
  Result<CausalContext> decoded = decode_client_context(context, token);
  if (!decoded.ok() || decoded->vector.empty()) return;
  if (known == by_key_.end()) {
    entries_.push_front({key, ""});
    by_key_.emplace(key, entries_.begin());
    replace(entries_.front(), std::string(context));
  } else {
    replace(entries_.front(), joined(entries_.front().context, context, *std::move(decoded), token));
  }
  while (entries_.size() > limits_.keys_max || bytes_ > limits_.bytes_max) {
    bytes_ -= entries_.back().context.size();
    by_key_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

std::string SeenContexts::seen(const KeyIdentity& key) {
  const auto known = by_key_.find(key);
  if (known == by_key_.end()) return "";
  entries_.splice(entries_.begin(), entries_, known->second);
  return known->second->context;
}

void SeenContexts::replace(Entry& entry, std::string context) {
  bytes_ += context.size() - entry.context.size();
  entry.context = std::move(context);
}

}  // namespace ringkv
