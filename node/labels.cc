#include "node/labels.h"

#include "base/text.h"
#include "node/member_tables.h"

namespace ringkv {
namespace {

std::string text_of(const std::string& rack) { return rack; }
std::string text_of(double weight) { return cat(weight); }

template <class Label>
Status check_label(std::string_view flag, const std::optional<Label>& given, Label Member::*label,
                   const RingDescription& ring, const Member& self) {
  if (!given || *given == self.*label) return {};
  const Member* after = ring.change ? find_in(ring.change->members, self.name) : nullptr;
  if (after != nullptr && after->*label == *given) return {};
  const std::string wanted = text_of(*given);
  const std::string holds = text_of(self.*label);
  return invalid_argument(cat(self.name, " has ", flag, " ", holds, " in the ring (epoch ", ring.epoch,
                              "), and was started with --", flag, " ", wanted, ": start it with --", flag,
                              " ", holds, " or without the flag. To change it: `kvctl plan ", flag, " ",
                              self.name, " ", wanted, "`, then `kvctl plan commit`; from then on --", flag,
                              " ", wanted, " is right"));
}

}  // namespace

Status check_labels(const LabelsGiven& given, const RingDescription& ring, NodeId self) {
  const Member* member = ring.find_member(self);
  if (member == nullptr) return {};
  if (Status status = check_label("rack", given.rack, &Member::rack, ring, *member); !status.ok())
    return status;
  return check_label("weight", given.weight, &Member::weight, ring, *member);
}

}  // namespace ringkv
