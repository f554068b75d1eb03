#include "replication/request_statistics.h"

#include <string>
#include <utility>

namespace ringkv {

std::string_view name_of(RequestKind kind) {
  switch (kind) {
    case RequestKind::kPut:
      return "put";
    case RequestKind::kDelete:
      return "delete";
    case RequestKind::kGet:
      return "get";
    case RequestKind::kExists:
      return "exists";
    case RequestKind::kScan:
      return "scan";
  }
  return "request";
}

void RequestStatistics::count(RequestKind kind, const Status& outcome, Duration latency) {
  Kind& counted = kinds_.at(static_cast<size_t>(kind));
  ++counted.count;
  if (outcome.code() == StatusCode::kUnknownOutcome) {
    ++counted.unknown;
  } else if (!outcome.ok()) {
    ++counted.failed;
  }
  counted.latencies.add(static_cast<uint64_t>(latency.count()));
  if (kind != RequestKind::kScan) recent_.add(static_cast<uint64_t>(latency.count()));
}

LatencyHistogram RequestStatistics::take_recent() { return std::exchange(recent_, {}); }

void RequestStatistics::reset_latencies() {
  for (Kind& kind : kinds_) kind.latencies.reset();
}

void RequestStatistics::add_to(Statistics& statistics) const {
  for (size_t i = 0; i < kRequestKinds; ++i) {
    const Kind& kind = kinds_.at(i);
    const std::string name(name_of(static_cast<RequestKind>(i)));
    statistics[name + ".count"] = static_cast<double>(kind.count);
    statistics[name + ".failed"] = static_cast<double>(kind.failed);
    statistics[name + ".unknown"] = static_cast<double>(kind.unknown);
    statistics[name + ".p50_us"] = static_cast<double>(kind.latencies.quantile_us(0.5));
    statistics[name + ".p99_us"] = static_cast<double>(kind.latencies.quantile_us(0.99));
    statistics[name + ".p999_us"] = static_cast<double>(kind.latencies.quantile_us(0.999));
    statistics[name + ".max_us"] = static_cast<double>(kind.latencies.max_us());
  }
  statistics["put.forwarded"] = static_cast<double>(forwarded_);
  statistics["put.hinted"] = static_cast<double>(hinted_);
  statistics["put.lingering"] = static_cast<double>(lingering_);
  statistics["put.not_waited_for"] = static_cast<double>(not_waited_for_);
  statistics["get.hedged"] = static_cast<double>(hedged_);
  statistics["get.unconfirmed"] = static_cast<double>(unconfirmed_);
  statistics["get.read_repairs"] = static_cast<double>(read_repairs_);
  statistics["request.stale_epochs"] = static_cast<double>(stale_epochs_);
}

}  // namespace ringkv
