// What an opener had to give up, kept in Family::kMeta until the store has drawn its conclusions: a start
// that is killed in between must not take what is left for the whole.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ringkv/status.h"
#include "storage/engine.h"

namespace ringkv {

using LostRanges = std::vector<OpenedEngine::LostRange>;

// Openers only add to this record; whoever has settled what it says erases it.
inline constexpr std::string_view kLostRangesKey = "lost_ranges";

std::string encode_lost_ranges(const LostRanges& ranges);
Result<LostRanges> decode_lost_ranges(std::string_view bytes);  // "": none. CORRUPTION

// What the engine remembers, with `found` behind it, which is on disk then. Blocks.
Result<LostRanges> remember_lost_ranges(Engine& engine, const LostRanges& found);

}  // namespace ringkv
