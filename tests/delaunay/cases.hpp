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
  slivers,    ///< points very close to segments
  holes,      ///< many small holes
};
inline constexpr int n_hardnesses = 6;

/// Make a random graph in the unit square, with its boundary. Segments do not cross.
/// @param min_gap  angle of fans, in radians; slivers have a tenth of it. Smaller gaps need more triangles
[[nodiscard]] PlanarGraph random_graph(std::mt19937_64& random, Hardness hardness, double min_gap = 0.03);

}  // namespace barrio::delaunay::test
