#include "replication/rack_rounds.h"

#include <algorithm>
#include <map>

namespace ringkv {

RackRounds::RackRounds(const Nodes& nodes, size_t copies)
    : rack_of_(nodes.rack_of), met_in_walk_(nodes.rack_of.size(), 0) {
  for (const uint32_t rack : rack_of_) racks_.resize(std::max<size_t>(racks_.size(), rack + 1));
  std::vector<size_t> rack_size(racks_.size(), 0);
  std::vector<size_t> round_size;  // racks with more nodes than the round's number
  for (size_t node = 0; node < rack_of_.size(); ++node) {
    if (!nodes.on_ring[node]) continue;
    const size_t round = rack_size[rack_of_[node]]++;
    if (round == round_size.size()) round_size.push_back(0);
    ++round_size[round];
  }
  round_begin_.push_back(0);
  for (const size_t size : round_size) {
    if (round_begin_.back() == copies) break;
    round_begin_.push_back(std::min(round_begin_.back() + size, copies));
  }
  round_end_.assign(round_begin_.begin(), round_begin_.end() - 1);
  list_.resize(round_begin_.back());
}

std::vector<uint32_t> number_racks(const std::vector<std::string_view>& racks) {
  std::map<std::string_view, uint32_t> numbers;
  std::vector<uint32_t> numbered;
  numbered.reserve(racks.size());
  for (const std::string_view rack : racks)
    numbered.push_back(numbers.emplace(rack, static_cast<uint32_t>(numbers.size())).first->second);
  return numbered;
}

}  // namespace ringkv
