#include "base/plan_step.h"

#include "base/text.h"

//   u8  kind, the position in PlanStep:
//   0   string name                               join
//   1   string name                               leave
//   2   string name, string by, u8 force (0, 1)   replace
//   3   string name, f64 weight                   weight
//   4   string name, string rack                  rack
//   5   varint replicas                           replicas
//   6   varint partition, string name             move
namespace ringkv {
namespace {

constexpr size_t kNameBytesMax = 64;

struct Text {
  std::string operator()(const PlanJoin& step) const { return cat("join ", step.name); }
  std::string operator()(const PlanLeave& step) const {
    return cat("leave ", step.name, step.force ? " --force" : "");
  }
  std::string operator()(const PlanReplace& step) const {
    return cat("replace ", step.name, " ", step.by, step.force ? " --force" : "");
  }
  std::string operator()(const PlanWeight& step) const { return cat("weight ", step.name, " ", step.weight); }
  std::string operator()(const PlanRack& step) const { return cat("rack ", step.name, " ", step.rack); }
  std::string operator()(const PlanReplicas& step) const { return cat("replicas ", step.replicas); }
  std::string operator()(const PlanMove& step) const { return cat("move ", step.partition, " ", step.name); }
};

struct Writer {
  ByteWriter& out;

  void operator()(const PlanJoin& step) const { out.string(step.name); }
  void operator()(const PlanLeave& step) const {
    out.string(step.name);
    out.u8(step.force ? 1 : 0);
  }
  void operator()(const PlanReplace& step) const {
    out.string(step.name);
    out.string(step.by);
    out.u8(step.force ? 1 : 0);
  }
  void operator()(const PlanWeight& step) const {
    out.string(step.name);
    out.f64(step.weight);
  }
  void operator()(const PlanRack& step) const {
    out.string(step.name);
    out.string(step.rack);
  }
  void operator()(const PlanReplicas& step) const { out.varint(step.replicas); }
  void operator()(const PlanMove& step) const {
    out.varint(step.partition);
    out.string(step.name);
  }
};

std::string read_name(ByteReader& in) { return std::string(in.string(kNameBytesMax)); }

uint32_t read_u32(ByteReader& in) {
  const uint64_t value = in.varint();
  if (value > UINT32_MAX) in.fail();
  return static_cast<uint32_t>(value);
}

bool read_flag(ByteReader& in) {
  const uint8_t flag = in.u8();
  if (flag > 1) in.fail();
  return flag == 1;
}

PlanLeave read_leave(ByteReader& in) {
  PlanLeave step{read_name(in)};
  step.force = read_flag(in);
  return step;
}

PlanReplace read_replace(ByteReader& in) {
  PlanReplace step{read_name(in), read_name(in), false};
  step.force = read_flag(in);
  return step;
}

}  // namespace

std::string to_text(const PlanStep& step) { return std::visit(Text(), step); }

void write_plan_step(ByteWriter& out, const PlanStep& step) {
  out.u8(static_cast<uint8_t>(step.index()));
  std::visit(Writer{out}, step);
}

PlanStep read_plan_step(ByteReader& in) {
  switch (in.u8()) {
    case 0:
      return PlanJoin{read_name(in)};
    case 1:
      return read_leave(in);
    case 2:
      return read_replace(in);
    case 3:
      return PlanWeight{read_name(in), in.f64()};
    case 4:
      return PlanRack{read_name(in), read_name(in)};
    case 5:
      return PlanReplicas{read_u32(in)};
    case 6:
      return PlanMove{read_u32(in), read_name(in)};
    default:
      in.fail();
      return {};
  }
}

}  // namespace ringkv
