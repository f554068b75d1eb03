#include <iomanip>
#include <sstream>

#include "ringkv/text.h"
#include "tools/common/units.h"
#include "tools/kvctl/plain_text.h"
#include "tools/kvctl/table.h"

namespace ringkv::tools {
namespace {

Row row_of(const PlanMoves& moves) {
  return {moves.from, moves.to, std::to_string(moves.partitions), std::to_string(moves.keys),
          human_bytes(moves.bytes)};
}

std::string moves_text(const std::vector<PlanMoves>& moves) {
  std::vector<Row> rows = {{"FROM", "TO", "PARTITIONS", "KEYS", "BYTES"}};
  PlanMoves total{.from = "all", .to = ""};
  for (const PlanMoves& one : moves) {
    rows.push_back(row_of(one));
    total.partitions += one.partitions;
    total.keys += one.keys;
    total.bytes += one.bytes;
  }
  if (moves.size() > 1) rows.push_back(row_of(total));
  return table(rows, {2, 3, 4});
}

std::string headline(const PlanReport& report) {
  const std::string epoch = "epoch " + std::to_string(report.from_epoch);
  if (report.stage == "none") return "nothing is planned, " + epoch + '\n';
  return report.stage + ", " + epoch + ": " + listed(report.steps) + '\n';
}

std::string seconds_text(double seconds) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(seconds < 10 ? 1 : 0) << seconds << " s";
  return out.str();
}

std::string end_of(const PlanReport& report) {
  if (report.stage == "planned") return "nothing has happened yet; `kvctl plan commit` begins it\n";
  if (report.not_ready.empty()) return "";
  return (report.stage == "begun" ? "still taking copies in: " : "still to take the new ring: ") +
         listed(report.not_ready) + '\n';
}

}  // namespace

std::string to_text(const PlanReport& report) {
  std::string text = headline(report);
  if (report.stage != "none") {
    if (report.moves.empty()) {
      text += "no copy moves\n";
    } else {
      text += moves_text(report.moves) + "takes about " + seconds_text(report.seconds) + " at the present " +
              human_bytes(report.bytes_per_second) + "/s a member (kvctl throttle)\n";
    }
    if (report.below_n > 0)
      text += counted(report.below_n, "partition") + " with fewer than N live copies meanwhile\n";
  }
  for (const std::string& violation : report.rack_violations) text += "racks: " + violation + '\n';
  for (const std::string& warning : report.warnings) text += "warning: " + warning + '\n';
  if (!report.waiting.empty()) text += "waiting to join: " + listed(report.waiting) + '\n';
  return text + end_of(report);
}

std::string to_text(const ForceReport& report) {
  std::string text =
      report.forced ? "forced: epoch " + std::to_string(report.epoch) + " starts lineage " +
                          std::to_string(report.lineage) + '\n'
                    : "would follow epoch " + std::to_string(report.epoch) + " and start a new lineage\n";
  text += "going on: " + listed(report.survivors) + '\n';
  text += "lost for good: " + listed(report.lost) + "; they come back only empty\n";
  const std::string of = " of " + counted(report.partitions, "partition");
  text += std::to_string(report.without_copy.size()) + of + " have no owner left: their keys are lost\n";
  text +=
      std::to_string(report.fewer_than_needed) + of +
      " have owners left, but too few to have all that was acknowledged: some of their keys may be lost\n";
  if (!report.ends.empty()) text += "dropped with it: " + report.ends + '\n';
  if (!report.forced) return text;
  text +=
      "next, for each that is lost: `kvctl plan leave NAME`, or `plan replace NAME NEW`; then `kvctl plan "
      "commit`\n";
  return text;
}

}  // namespace ringkv::tools
