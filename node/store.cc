#include "ringkv/store.h"

#include <algorithm>

#include "base/client_message.h"
#include "base/text.h"
#include "node/reply_result.h"

namespace ringkv {
namespace {

Duration timeout_from(std::chrono::milliseconds timeout) {
  using std::chrono::milliseconds;
  return std::clamp<milliseconds>(timeout, milliseconds(0), std::chrono::hours(24));  // no overflow
}

Result<ClientRequest> put_request(std::string_view key, std::string_view value, const PutOptions& options) {
  ClientPut put;
  put.bucket = options.bucket;
  put.key = key;
  put.value = value;
  if (options.context) put.context = options.context->bytes();
  put.w = options.w;
  put.durability = options.durability;
  put.primary = options.primary;
  put.read_first = options.read_first;
  if (options.ttl) {
    if (options.ttl->count() <= 0)
      return invalid_argument(cat("key ", display_key(key), ": the ttl must be longer than 0"));
    put.ttl_ms = static_cast<uint64_t>(options.ttl->count());
  }
  if (!options.operation_id.empty()) {
    const auto name = operation_name_from(options.operation_id);
    if (!name) {
      return invalid_argument(cat("'", escaped(options.operation_id),
                                  "' isn't an operation id; it has the form CLIENT.NUMBER@BOOT, as in the "
                                  "message of the put that it comes from"));
    }
    put.operation = name->operation;
    put.first_tried = name->boot;
  }
  return ClientRequest{std::move(put), timeout_from(options.timeout)};
}

Result<ClientRequest> remove_request(std::string_view key, const PutOptions& options) {
  Result<ClientRequest> request = put_request(key, "", options);
  if (request.ok()) std::get<ClientPut>(request->body).tombstone = true;
  return request;
}

ClientRequest get_request(std::string_view key, const GetOptions& options, bool values) {
  return {ClientGet{options.bucket, std::string(key), options.r, values}, timeout_from(options.timeout)};
}

}  // namespace

void Store::put(std::string_view key, std::string_view value, const PutOptions& options,
                Callback<PutReceipt> done) {
  Result<ClientRequest> request = put_request(key, value, options);
  if (!request.ok()) return done(request.status());
  submit(std::move(*request),
         [done = std::move(done)](ClientReply reply) { done(result_from<PutReceipt>(std::move(reply))); });
}

void Store::remove(std::string_view key, const PutOptions& options, Callback<PutReceipt> done) {
  Result<ClientRequest> request = remove_request(key, options);
  if (!request.ok()) return done(request.status());
  submit(std::move(*request),
         [done = std::move(done)](ClientReply reply) { done(result_from<PutReceipt>(std::move(reply))); });
}

void Store::get(std::string_view key, const GetOptions& options, Callback<GetResult> done) {
  submit(get_request(key, options, true),
         [done = std::move(done)](ClientReply reply) { done(result_from<GetResult>(std::move(reply))); });
}

Result<PutReceipt> Store::put(std::string_view key, std::string_view value, const PutOptions& options) {
  std::promise<Result<PutReceipt>> answered;
  put(key, value, options, [&](Result<PutReceipt> result) { answered.set_value(std::move(result)); });
  return answered.get_future().get();
}

Result<PutReceipt> Store::remove(std::string_view key, const PutOptions& options) {
  std::promise<Result<PutReceipt>> answered;
  remove(key, options, [&](Result<PutReceipt> result) { answered.set_value(std::move(result)); });
  return answered.get_future().get();
}

Result<GetResult> Store::get(std::string_view key, const GetOptions& options) {
  std::promise<Result<GetResult>> answered;
  get(key, options, [&](Result<GetResult> result) { answered.set_value(std::move(result)); });
  return answered.get_future().get();
}

Result<bool> Store::exists(std::string_view key, const GetOptions& options) {
  const Result<ExistsAnswer> answer = result_from<ExistsAnswer>(
      await_reply([&](auto done) { submit(get_request(key, options, false), std::move(done)); }));
  if (!answer.ok()) return answer.status();
  return answer->found;
}

Result<ScanPage> Store::scan(const ScanOptions& options) {
  ClientScan scan{options.bucket, options.prefix, options.after, options.limit, options.values};
  return result_from<ScanPage>(await_reply([&](auto done) {
    submit({std::move(scan), timeout_from(options.timeout)}, std::move(done));
  }));
}

}  // namespace ringkv
