#include "node/client_wording.h"

#include "base/text.h"

namespace ringkv {
namespace {

struct KeyOf {
  const std::string* operator()(const ClientPut& body) const { return &body.key; }
  const std::string* operator()(const ClientGet& body) const { return &body.key; }
  const std::string* operator()(const ClientLocalGet& body) const { return &body.key; }
  const std::string* operator()(const ClientExplain& body) const { return &body.key; }
  template <class Other>
  const std::string* operator()(const Other&) const {
    return nullptr;
  }
};

bool is_of_plan(const ClientRequest& request) {
  return std::holds_alternative<ClientPlan>(request.body) ||
         std::holds_alternative<ClientCommitPlan>(request.body) ||
         std::holds_alternative<ClientCancelPlan>(request.body);
}

}  // namespace

const std::string* key_of(const ClientRequest& request) { return std::visit(KeyOf(), request.body); }

bool is_nameless_change(const ClientRequest& request) {
  return std::holds_alternative<ClientCreateBucket>(request.body) ||
         std::holds_alternative<ClientChangeBucket>(request.body) ||
         std::holds_alternative<ClientFault>(request.body) || is_of_plan(request);
}

bool is_read(const ClientRequest& request) {
  return !std::holds_alternative<ClientPut>(request.body) && !is_nameless_change(request);
}

std::string subject_of(const ClientRequest& request) {
  const std::string* key = key_of(request);
  if (key != nullptr) return cat("key ", display_key(*key), ": ");
  if (const auto* create = std::get_if<ClientCreateBucket>(&request.body))
    return cat("bucket '", escaped(create->bucket.name), "': ");
  if (const auto* change = std::get_if<ClientChangeBucket>(&request.body))
    return cat("bucket '", escaped(change->name), "': ");
  return "";
}

std::string text_of(Duration duration) {
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
  return ms % 1000 == 0 ? cat(ms / 1000, " s") : cat(ms, " ms");
}

bool says_nothing_was_written(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kOverloaded ||
         status.code() == StatusCode::kStaleEpoch;
}

Status unknown_put(const ClientRequest& request, std::string_view why) {
  const auto& put = std::get<ClientPut>(request.body);
  const std::string name = to_text(OperationName{put.operation, put.first_tried});
  if (why.find(name) != std::string_view::npos) return unknown_outcome(std::string(why));
  return unknown_outcome(cat(subject_of(request), "it may have been written: ", why,
                             "; repeat it with operation id ", name, " to learn, or to finish it"));
}

Status unknown_change(const ClientRequest& request, std::string_view why) {
  if (std::holds_alternative<ClientFault>(request.body))
    return unknown_outcome(cat("the fault may have been set: ", why, "; set it again"));
  if (is_of_plan(request))
    return unknown_outcome(cat("the plan may have been changed: ", why, "; `kvctl plan show` tells"));
  return unknown_outcome(
      cat(subject_of(request), "it may have been changed: ", why, "; list the buckets to learn"));
}

}  // namespace ringkv
