#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/table.h"

namespace ringkv::tools {
namespace {

std::string done_of(uint64_t done, uint64_t all) {
  return all == 0 ? "-" : std::to_string(done) + " of " + std::to_string(all);
}

std::string seconds_text(double seconds) { return std::to_string(static_cast<uint64_t>(seconds)) + "s"; }

// From what has come so far; nothing where that says nothing yet.
std::string left_text(const TransferInfo& transfer) {
  if (transfer.partitions_done == 0 || transfer.seconds < 1) return "-";
  const uint64_t left = transfer.partitions - transfer.partitions_done;
  return seconds_text(transfer.seconds * static_cast<double>(left) /
                      static_cast<double>(transfer.partitions_done));
}

std::string why_text(const TransferReport& member) {
  if (!member.paused.empty()) return member.paused;
  if (member.limit != 0) return "kvctl throttle";
  return member.is_strained ? "auto: requests are slow here" : "auto";
}

std::string members_text(const std::vector<TransferReport>& members) {
  std::vector<Row> rows = {{"NAME", "TAKES IN", "AT MOST", "BY", "TO TAKE OVER", "TO REFILL", "TO LET GO"}};
  for (const TransferReport& member : members)
    rows.push_back({member.node, human_bytes(member.taken_in) + "/s",
                    human_bytes(member.bytes_per_second) + "/s", why_text(member),
                    done_of(member.taken_over, member.to_take_over), std::to_string(member.to_refill),
                    std::to_string(member.to_let_go)});
  return table(rows);
}

}  // namespace

std::string to_text(const TransfersOfAll& transfers) {
  std::string text = members_text(transfers.members);
  std::vector<Row> rows = {{"FROM", "TO", "PARTITIONS", "KEYS", "BYTES", "FOR", "LEFT"}};
  for (const TransferReport& member : transfers.members) {
    for (const TransferInfo& transfer : member.transfers)
      rows.push_back({transfer.from, transfer.to, done_of(transfer.partitions_done, transfer.partitions),
                      std::to_string(transfer.keys), human_bytes(transfer.bytes),
                      seconds_text(transfer.seconds), left_text(transfer)});
  }
  return rows.size() == 1 ? text + "nothing is under way\n" : text + table(rows);
}

}  // namespace ringkv::tools
