#include "tools/kvbench/operation_mix.h"

namespace ringkv::tools {

OperationKind OperationMix::kind_of(uint64_t roll) const {
  const auto percent = static_cast<uint32_t>(roll % 100);
  if (percent < read_percent) return OperationKind::kRead;
  if (percent < read_percent + update_percent) return OperationKind::kUpdate;
  if (percent < read_percent + update_percent + insert_percent) return OperationKind::kInsert;
  return OperationKind::kReadModifyWrite;
}

OperationMix mix_of(Workload workload) {
  switch (workload) {
    case Workload::kPut:
      return {.update_percent = 100};
    case Workload::kGet:
      return {.read_percent = 100};
    case Workload::kMixed:
      return {.read_percent = 50, .update_percent = 50};
    case Workload::kYcsbA:
      return {.read_percent = 50, .update_percent = 50};
    case Workload::kYcsbB:
      return {.read_percent = 95, .update_percent = 5};
    case Workload::kYcsbC:
      return {.read_percent = 100};
    case Workload::kYcsbD:
      return {.read_percent = 95, .insert_percent = 5};
    case Workload::kYcsbF:
      return {.read_percent = 50, .read_modify_write_percent = 50};
  }
  return {};
}

}  // namespace ringkv::tools
