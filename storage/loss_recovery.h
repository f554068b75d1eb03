// Recovery of a store of which table files were set aside. What is left is treated as an old copy: of a key
// in a lost range an older version may be back, or one that was erased.
//
// So nothing that this node claims to have merged may be claimed any more for partitions that lost records,
// or the other owners' copies would be taken for superseded when they come, and the loss would spread:
// neither by rounds' floors, nor for its own earlier lives, nor for closed ones. Elsewhere all of it stays
// true, and is kept there as floors of single partitions. Contexts that were stripped beside those claims are
// filled.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/lost_ranges.h"
#include "storage/recovery.h"

namespace ringkv {

// That lost records, or what is known of them (Family::kDigests: then all). In order.
std::vector<Partition> partitions_with_losses(const LostRanges& lost, uint32_t partitions);

// As recover_store. Reads all data. Blocks. Until the record kLostRangesKey is gone every start repeats it.
Result<RecoveredStore> recover_after_loss(Engine& engine, uint32_t partitions, const Actor& actor,
                                          const LostRanges& lost);

}  // namespace ringkv
