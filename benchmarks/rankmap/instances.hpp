#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::bench {

/// Points of a mesh with neighbours in closed form: a structured grid with Kuhn's six tetrahedra per cell, so that a
/// point has up to 14 neighbours, or with all 26 neighbours of hexahedra. Or a list of points, n_j = n_k = 1, with
/// listed neighbours.
struct PointGrid {
  std::string name = {};
  int n_i = 0, n_j = 0, n_k = 0;
  bool is_periodic = false;  ///< in i
  bool has_diagonals = false;
  std::vector<double> coordinates = {};    ///< (n, 3)
  std::vector<std::int64_t> offsets = {};  ///< into `neighbours`, n + 1; empty: neighbours in closed form
  std::vector<std::int32_t> neighbours = {};

  [[nodiscard]] std::int64_t n_points() const noexcept { return std::int64_t{n_i} * n_j * n_k; }

  /// Call `visit` with each neighbour of a point.
  template <class Visit>
  void for_neighbours(std::int64_t point, const Visit& visit) const;
};

/// Make a graded O-grid around a swept, tapered wing: about 600 000 points, dense at the surface.
PointGrid wing_grid();
/// Make a box of 80^3 points with 26 neighbours each.
PointGrid box_grid();

/// Partitioner of points, with the numbering of parts.
enum class Cut {
  scattered,           ///< recursive coordinate bisection, numbered in breadth-first order
  rcb,                 ///< the same parts in leaf order
  metis,               ///< METIS, k-way
  zoltan_serial,       ///< Zoltan's graph partitioner, with all points on one rank
  zoltan_distributed,  ///< the same, with a contiguous range of points on each rank
};
std::string_view name_of(Cut cut) noexcept;

/// Partition the points of a mesh. @return the part of each point @throws AgreedError{usage} if this build lacks METIS
std::vector<std::int32_t> cut_points(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts);

/// Compute the traffic between parts: each part sends each partner one message with the points that neighbour the
/// partner's points, 40 bytes each. Local. @param[in] part  the part of each point
rankmap::TrafficMatrix compute_traffic(const PointGrid& grid, std::span<const std::int32_t> part, int n_parts);
/// Partition the points and compute the traffic between parts. @throws AgreedError{usage} if this build lacks METIS
rankmap::TrafficMatrix make_traffic(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts);

/// Make the traffic of a box of randomly numbered parts with 26 neighbours each: faces 1000, edges 30, corners 1 point.
rankmap::TrafficMatrix scrambled_grid(int n_i, int n_j, int n_k, std::uint64_t seed);

/// Return the breadth-first number of each part of a bisection, by its number in leaf order.
std::vector<int> breadth_first_numbers(int n_parts);

// Implementation.

template <class Visit>
void PointGrid::for_neighbours(std::int64_t point, const Visit& visit) const {
  if (!offsets.empty()) {
    const auto at = static_cast<std::size_t>(point);
    for (std::int64_t e = offsets[at]; e < offsets[at + 1]; ++e)
      visit(std::int64_t{neighbours[static_cast<std::size_t>(e)]});
    return;
  }
  const int i = static_cast<int>(point % n_i), j = static_cast<int>(point / n_i % n_j);
  const int k = static_cast<int>(point / n_i / n_j);
  for (int dk = -1; dk <= 1; ++dk) {
    for (int dj = -1; dj <= 1; ++dj) {
      for (int di = -1; di <= 1; ++di) {
        // Kuhn's edges never mix forward and backward directions.
        const bool is_ahead = di >= 0 && dj >= 0 && dk >= 0, is_behind = di <= 0 && dj <= 0 && dk <= 0;
        if ((di == 0 && dj == 0 && dk == 0) || (!has_diagonals && !is_ahead && !is_behind)) continue;
        const int at_j = j + dj, at_k = k + dk;
        int at_i = i + di;
        if (is_periodic) at_i = (at_i + n_i) % n_i;
        if (at_i < 0 || at_i >= n_i || at_j < 0 || at_j >= n_j || at_k < 0 || at_k >= n_k) continue;
        visit((std::int64_t{at_k} * n_j + at_j) * n_i + at_i);
      }
    }
  }
}

}  // namespace barrio::bench
