// How an operator changes who owns what: steps that are drafted, looked at, and begun together.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace ringkv {

// A node that waits to join (kvnode --plan-only) becomes a member.
struct PlanJoin {
  std::string name;
  friend bool operator==(const PlanJoin&, const PlanJoin&) = default;
};

// A member's copies move to the others, and it is a member no more.
struct PlanLeave {
  std::string name;
  bool force = false;  // also when it is down: what only it has is lost
  friend bool operator==(const PlanLeave&, const PlanLeave&) = default;
};

// A node that waits to join takes the place of a member, which is gone for good.
struct PlanReplace {
  std::string name;
  std::string by;
  bool force = false;  // also when the member is up
  friend bool operator==(const PlanReplace&, const PlanReplace&) = default;
};

struct PlanWeight {
  std::string name;
  double weight = 1;
  friend bool operator==(const PlanWeight&, const PlanWeight&) = default;
};

struct PlanRack {
  std::string name;
  std::string rack;
  friend bool operator==(const PlanRack&, const PlanRack&) = default;
};

// Copies of each key.
struct PlanReplicas {
  uint32_t replicas = 0;
  friend bool operator==(const PlanReplicas&, const PlanReplicas&) = default;
};

// One partition's first copy moves to a member, and the others follow by the walk from there.
struct PlanMove {
  uint32_t partition = 0;
  std::string name;
  friend bool operator==(const PlanMove&, const PlanMove&) = default;
};

using PlanStep = std::variant<PlanJoin, PlanLeave, PlanReplace, PlanWeight, PlanRack, PlanReplicas, PlanMove>;

// Copies that one member gains in the place of another one.
struct PlanMoves {
  std::string from;
  std::string to;
  uint64_t partitions = 0;
  uint64_t keys = 0;
  uint64_t bytes = 0;
};

// What is drafted or under way, and what it comes to.
struct PlanReport {
  uint64_t from_epoch = 0;     // of the ring that it starts from: a commit names it
  std::string stage = "none";  // planned: nothing has happened yet; begun; switched: gets ask the new owners
  std::vector<std::string> steps;  // "join n4"
  std::vector<PlanMoves> moves;
  double seconds = 0;             // that the moves take at the present pace
  uint64_t bytes_per_second = 0;  // that, of each member that takes copies in
  uint32_t below_n = 0;           // partitions that have fewer than N live copies meanwhile
  std::vector<std::string> rack_violations;
  std::vector<std::string> warnings;   // what else one should know before
  std::vector<std::string> waiting;    // nodes that ask to join
  std::vector<std::string> not_ready;  // members that the next step of a change under way waits for
};

}  // namespace ringkv
