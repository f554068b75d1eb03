#include "replication/request_environment.h"

#include <utility>

#include "base/text.h"

namespace ringkv {

void RequestEnvironment::answer(const Requester& requester, ClientReply reply, MessageOutbox& outbox) const {
  reply.epoch = view.ring().epoch();
  reply.boot = settings.boot;
  if (requester.forwarded_by) {
    outbox.send(requester.forwarded_by, ForwardedReply{requester.request, std::move(reply)});
  } else {
    outbox.send(settings.self, ClientAnswer{requester, std::move(reply)});
  }
}

void RequestEnvironment::refuse(const Arrival& arrival, const ClientPut& put, Token token, Status why,
                                MessageOutbox& outbox) {
  if (put.operation && put.first_tried) {
    operations.begin(
        put.operation,
        {.request = numbers.next(), .token = token, .outcome = OperationTable::Outcome::kRefused, .seen = {}},
        arrival.deadline);
  }
  answer(arrival.requester, refusal(std::move(why)), outbox);
}

ClientReply refusal(Status status) {
  ClientReply reply;
  reply.status = std::move(status);
  return reply;
}

OperationTable::Outcome outcome_of(const Status& status) {
  if (status.ok()) return OperationTable::Outcome::kApplied;
  return status.code() == StatusCode::kUnknownOutcome ? OperationTable::Outcome::kUnknown
                                                      : OperationTable::Outcome::kRefused;
}

Conflict conflict_of(const BucketDescription& bucket) {
  return bucket.conflict == BucketConflict::kLastWriterWins ? Conflict::kLastWriterWins : Conflict::kSiblings;
}

Status unknown_outcome_of(std::string_view key, const OperationName& operation, std::string_view reason) {
  std::string message = cat("key ", display_key(key), ": ", reason, "; it may have been written");
  if (operation.operation) message += cat(": repeat it with operation id ", to_text(operation));
  return unknown_outcome(std::move(message));
}

}  // namespace ringkv
