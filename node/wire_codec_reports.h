// Replies that report on how copies converge and move. For node/wire_codec_reply.cc.
#pragma once

#include <optional>
#include <vector>

#include "base/client_message.h"

namespace ringkv {

namespace wire {
class ClientReply;
}

void fill_report(const std::vector<HintInfo>& hints, wire::ClientReply& reply);
void fill_report(const std::vector<LagInfo>& lags, wire::ClientReply& reply);
void fill_report(const RepairReport& report, wire::ClientReply& reply);
void fill_report(const PurgeReport& report, wire::ClientReply& reply);
void fill_report(const ScrubReport& report, wire::ClientReply& reply);
void fill_report(const std::vector<PartitionSize>& sizes, wire::ClientReply& reply);
void fill_report(const PlanOutline& outline, wire::ClientReply& reply);
void fill_report(const TransferReport& report, wire::ClientReply& reply);
void fill_report(const ForceReport& report, wire::ClientReply& reply);

// Nothing: the reply is none of these.
std::optional<ClientReply::Body> report_from(const wire::ClientReply& reply);

}  // namespace ringkv
