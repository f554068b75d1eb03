#include "tools/simulation/history.h"

#include <string_view>

#include "base/text.h"

namespace ringkv::simulation {

std::string name_of(OperationIndex index) { return cat("operation ", index); }

std::optional<OperationName> operation_named_in(const ClientReply& reply) {
  if (const auto* receipt = std::get_if<PutReceipt>(&reply.body))
    return operation_name_from(receipt->operation_id);
  if (reply.status.code() != StatusCode::kUnknownOutcome) return std::nullopt;
  constexpr std::string_view kMark = "operation id ";
  const std::string& message = reply.status.message();
  const size_t mark = message.rfind(kMark);
  if (mark == std::string::npos) return std::nullopt;
  const size_t start = mark + kMark.size();
  return operation_name_from(message.substr(start, message.find_first_of(" ;,)", start) - start));
}

}  // namespace ringkv::simulation
