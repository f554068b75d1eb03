#include <algorithm>
#include <limits>

#include "ringkv/text.h"
#include "tools/kvctl/json_text.h"
#include "tools/kvctl/progress.h"
#include "tools/kvctl/standard_output.h"
#include "tools/kvctl/verbs.h"

namespace ringkv::tools {
namespace {

constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

void print_key(const ScanEntry& entry, bool json) {
  line_out(json ? key_json(entry.key) : escaped(entry.key));
}

}  // namespace

int run(Session& session, const ScanVerb& verb) {
  const bool json = session.target().json;
  ScanOptions options = session.scan_options();
  options.prefix = verb.prefix;
  options.after = verb.after;
  uint64_t left = verb.limit == 0 ? kNoLimit : verb.limit;
  do {
    options.limit = left == kNoLimit ? 0 : static_cast<uint32_t>(std::min<uint64_t>(left, UINT32_MAX));
    const Result<ScanPage> page = session.store().scan(options);
    if (!page.ok()) {
      flush_out();
      return fail(page.status());
    }
    for (const ScanEntry& entry : page->entries) print_key(entry, json);
    if (left != kNoLimit) left -= std::min<uint64_t>(left, page->entries.size());
    options.after = page->after;
  } while (!options.after.empty() && left > 0);
  if (json) line_out(cursor_json(options.after));
  if (!json && !options.after.empty()) complain("there is more: --after " + base64(options.after));
  return kDone;
}

int run(Session& session, const DumpVerb&) {
  ScanOptions options = session.scan_options();
  options.values = true;
  Progress progress("dumped");
  Amount done;
  do {
    const Result<ScanPage> page = session.store().scan(options);
    if (!page.ok()) {
      flush_out();
      return fail(page.status());
    }
    for (const ScanEntry& entry : page->entries) {
      if (entry.values.empty()) continue;  // deleted since its key was found
      const std::string line = entry_json(entry);
      line_out(line);
      ++done.lines;
      done.bytes += line.size() + 1;
    }
    progress.update(done);
    options.after = page->after;
  } while (!options.after.empty());
  flush_out();
  progress.clear();
  complain("dumped " + progress.summary(done));
  return kDone;
}

}  // namespace ringkv::tools
