#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/mpi/context.hpp"
#include "barrio/rankmap/traffic.hpp"

namespace barrio::bench {

/// The points of a mesh whose neighbours follow from a closed form: a structured grid, cut into Kuhn's six tetrahedra
/// a cell, so that a point has up to 14 neighbours, or with all 26 neighbours of a box of hexahedra. Or points in a
/// row, n_j = n_k = 1, whose neighbours are listed.
struct PointGrid {
  std::string name = {};
  int n_i = 0, n_j = 0, n_k = 0;
  bool is_periodic = false;  ///< in i
  bool has_diagonals = false;
  std::vector<double> coordinates = {};    ///< (n, 3)
  std::vector<std::int64_t> offsets = {};  ///< into `neighbours`, n + 1; empty: they follow from the closed form
  std::vector<std::int32_t> neighbours = {};

  [[nodiscard]] std::int64_t n_points() const noexcept { return std::int64_t{n_i} * n_j * n_k; }

  /// Call with each neighbour of a point.
  template <class Visit>
  void for_neighbours(std::int64_t point, const Visit& visit) const;
};

/// A graded O-grid round a swept, tapered wing: about 600 000 points, close together at the surface.
PointGrid wing_grid();
/// A box of 80^3 points, 26 neighbours each.
PointGrid box_grid();

/// How points are cut into parts, and how these are numbered.
enum class Cut {
  scattered,           ///< recursive coordinate bisection, numbered as a breadth-first code makes the parts
  rcb,                 ///< the same parts in leaf order
  metis,               ///< METIS, k-way
  zoltan_serial,       ///< Zoltan's graph partitioner, one rank giving all points
  zoltan_distributed,  ///< the same, each rank giving a run of points
};
std::string_view name_of(Cut cut) noexcept;

/// Cut the points of a mesh. @return the part of each point @throws AgreedError{usage} if this build lacks METIS
std::vector<std::int32_t> cut_points(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts);

/// What parts send each other: for each part and partner the points of the part that the partner's points have as
/// neighbours, of 40 bytes, in one message. Local. @param[in] part  the part of each point
rankmap::TrafficMatrix compute_traffic(const PointGrid& grid, std::span<const std::int32_t> part, int n_parts);
/// The same of points that are cut here. @throws AgreedError{usage} if this build lacks METIS
rankmap::TrafficMatrix make_traffic(mpi::Context& context, const PointGrid& grid, Cut cut, int n_parts);

/// Parts of a box of `side`^3 parts with 26 neighbours each, of random numbers: faces 1000, edges 30, corners 1 point.
rankmap::TrafficMatrix scrambled_grid(int n_i, int n_j, int n_k, std::uint64_t seed);

/// Numbers of parts in the order of a breadth-first bisection, by their number in leaf order.
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
        // Kuhn's edges lead to corners that are ahead in each direction or in none, or behind in the same way.
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
