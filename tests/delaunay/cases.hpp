#pragma once

#include <cstdint>
#include <random>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::test {

enum class Hardness {
  plain,      ///< random points and segments in a square
  lattice,    ///< points of a lattice, so that many lie on lines and circles
  collinear,  ///< long segments with many points on them
  fans,       ///< segments that meet in tiny angles
  slivers,    ///< points a little beside segments
  holes,      ///< many small holes
};
inline constexpr int n_hardnesses = 6;

/// A random graph in the unit square, whose boundary it has. Segments do not cross.
/// @param min_gap  of fans, in radians, and ten times that of slivers: smaller ones take more triangles
[[nodiscard]] PlanarGraph random_graph(std::mt19937_64& random, Hardness hardness, double min_gap = 0.03);

}  // namespace barrio::delaunay::test
