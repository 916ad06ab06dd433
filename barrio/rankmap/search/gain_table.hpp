#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/rankmap/search/seats.hpp"

namespace barrio::rankmap::detail {

/// Table of the cost of each rank in each group: the sum of its partners' weights times their distance from there. With
/// it, the cost change of an exchange takes four look-ups, and only exchanges that are made cost work.
/// Memory: 4 bytes x ranks x groups, and groups x groups.
class GainTable {
 public:
  GainTable(const CommunicationGraph& graph, const Machine& machine, Seats& seats);

  /// Return the bytes of such a table.
  static std::uint64_t bytes(const CommunicationGraph& graph, const Machine& machine) noexcept;

  /// Bound the cost change of an exchange of two vertices in different groups: without their mutual traffic, never more
  /// than `delta`.
  [[nodiscard]] float bound(int vertex, int other) const noexcept {
    const float* const a = row(vertex);
    const float* const b = row(other);
    const int from = seats_.group_of(vertex), to = seats_.group_of(other);
    return a[to] - a[from] + (b[from] - b[to]);
  }
  /// Return the mutual cost of two vertices, which an exchange does not change but `bound` counts as saved.
  [[nodiscard]] float correction(int vertex, int other) const noexcept;
  void exchange(int vertex, int other) noexcept;
  /// Recompute the sums: they are kept in single precision, and rounding errors accumulate. Cost: O(edges * groups)
  void refresh();
  [[nodiscard]] const float* row(int vertex) const noexcept {
    return sums_.data() + at(seats_.is_rank(vertex) ? vertex : seats_.n_ranks()) * stride_;
  }
  [[nodiscard]] const Seats& seats() const noexcept { return seats_; }

 private:
  static std::size_t at(int i) noexcept { return i; }
  [[nodiscard]] const float* distances_of(int group) const noexcept { return distances_.data() + at(group) * stride_; }
  void add_to_partners(int rank, int from, int to) noexcept;

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Seats& seats_;
  std::size_t stride_;
  std::vector<float> distances_;  // groups x groups
  std::vector<float> sums_;       // ranks x groups, and a row of zeros for free cores
};

/// The same interface computed from the lists of partners: for machines whose table would not fit.
class GainLists {
 public:
  GainLists(const CommunicationGraph& graph, const Machine& machine, Seats& seats)
      : graph_(graph), machine_(machine), seats_(seats) {}

  [[nodiscard]] float bound(int vertex, int other) const noexcept { return static_cast<float>(delta(vertex, other)); }
  /// Return the cost change of an exchange of two vertices.
  [[nodiscard]] double delta(int vertex, int other) const noexcept {
    const int from = seats_.group_of(vertex), to = seats_.group_of(other);
    const auto slices = machine_.told_apart_by(from, to);
    return moved(vertex, other, from, to, slices) + moved(other, vertex, to, from, slices);
  }
  [[nodiscard]] static float correction(int, int) noexcept { return 0.0F; }
  void exchange(int vertex, int other) noexcept { seats_.exchange(vertex, other); }
  static void refresh() noexcept {}
  [[nodiscard]] const Seats& seats() const noexcept { return seats_; }

 private:
  [[nodiscard]] double moved(int vertex, int other, int from, int to,
                             const std::array<Machine::Slice, 2>& slices) const noexcept {
    if (!seats_.is_rank(vertex)) return 0.0;
    const auto partners = graph_.partners_of(vertex);
    const auto weights = graph_.weights_of(vertex);
    double change = 0.0;
    for (std::size_t k = 0; k < partners.size(); ++k) {
      const int there = seats_.group_of(partners[k]);
      // Most partners of a move in a tree are equally far from both places.
      const bool is_told =
          (there >= slices[0].begin && there < slices[0].end) || (there >= slices[1].begin && there < slices[1].end);
      if (!is_told || partners[k] == other) continue;  // the two keep their distance
      change += weights[k] * (machine_.group_distance(to, there) - machine_.group_distance(from, there));
    }
    return change;
  }

  const CommunicationGraph& graph_;
  const Machine& machine_;
  Seats& seats_;
};

}  // namespace barrio::rankmap::detail
