#include "barrio/rankmap/search/gain_table.hpp"

#include <algorithm>

namespace barrio::rankmap::detail {
namespace {

constexpr std::size_t floats_in_line = 8;

std::size_t padded(int n) { return (n + floats_in_line - 1) / floats_in_line * floats_in_line; }

}  // namespace

GainTable::GainTable(const CommunicationGraph& graph, const Machine& machine, Seats& seats)
    : graph_(graph),
      machine_(machine),
      seats_(seats),
      stride_(padded(machine.n_groups())),
      distances_(at(machine.n_groups()) * stride_, 0.0F),
      sums_((at(graph.n_ranks()) + 1) * stride_, 0.0F) {
  for (int a = 0; a < machine.n_groups(); ++a)
    for (int b = 0; b < machine.n_groups(); ++b)
      distances_[at(a) * stride_ + at(b)] = static_cast<float>(machine.group_distance(a, b));
  refresh();
}

std::uint64_t GainTable::bytes(const CommunicationGraph& graph, const Machine& machine) noexcept {
  const std::uint64_t rows = std::int64_t{graph.n_ranks()} + machine.n_groups();
  return rows * padded(machine.n_groups()) * sizeof(float);
}

void GainTable::refresh() {
  std::ranges::fill(sums_, 0.0F);
  for (Rank rank = 0; rank < graph_.n_ranks(); ++rank) {
    float* const sums = sums_.data() + at(rank) * stride_;
    const auto partners = graph_.partners_of(rank);
    const auto weights = graph_.weights_of(rank);
    for (std::size_t k = 0; k < partners.size(); ++k) {
      const float* const there = distances_of(seats_.group_of(partners[k]));
      const auto weight = static_cast<float>(weights[k]);
      for (std::size_t group = 0; group < stride_; ++group) sums[group] += weight * there[group];
    }
  }
}

float GainTable::correction(int vertex, int other) const noexcept {
  if (!seats_.is_rank(vertex) || !seats_.is_rank(other)) return 0.0F;
  const auto partners = graph_.partners_of(vertex);
  for (std::size_t k = 0; k < partners.size(); ++k) {
    if (partners[k] != other) continue;
    const int from = seats_.group_of(vertex), to = seats_.group_of(other);
    return static_cast<float>(graph_.weights_of(vertex)[k]) *
           (2 * distances_of(from)[to] - distances_of(from)[from] - distances_of(to)[to]);
  }
  return 0.0F;
}

void GainTable::exchange(int vertex, int other) noexcept {
  const int from = seats_.group_of(vertex), to = seats_.group_of(other);
  if (seats_.is_rank(vertex)) add_to_partners(vertex, from, to);
  if (seats_.is_rank(other)) add_to_partners(other, to, from);
  seats_.exchange(vertex, other);
}

void GainTable::add_to_partners(int rank, int from, int to) noexcept {
  const float* const old_distances = distances_of(from);
  const float* const new_distances = distances_of(to);
  const auto slices = machine_.told_apart_by(from, to);
  const auto partners = graph_.partners_of(rank);
  const auto weights = graph_.weights_of(rank);
  for (std::size_t k = 0; k < partners.size(); ++k) {
    float* const sums = sums_.data() + at(partners[k]) * stride_;
    const auto weight = static_cast<float>(weights[k]);
    for (const auto& slice : slices)
      for (int group = slice.begin; group < slice.end; ++group)
        sums[group] += weight * (new_distances[group] - old_distances[group]);
  }
}

}  // namespace barrio::rankmap::detail
