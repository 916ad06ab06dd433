#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// Sizes that a mesh must follow, with goals.
struct AdaptCase {
  std::string name;
  std::vector<adapt::SizeFunction> sizes;  ///< of successive steps; the last one is timed
  double min_quality;                      ///< goals: mean ratio
  double mean_quality;
  double fewest;  ///< cells, over the integral of 1 / size^3
  double most;
  double second_call;  ///< seconds, over those of the first
};

/// Return a case. CUBE is a plane shock: nearly all of the mesh is coarsened. BUBBLE has five bubbles that move by a
/// fifth of their radius. Source: Ovcharenko et al. 2012, section 7, with our own sizes.
/// @throws Error{usage} for another name
AdaptCase adapt_case(const std::string& name, double scale);

/// Make the unit cube of n^3 boxes of six tets each. Collective.
/// @param start  distribution of cells: "slabs" along z, all on "one" rank, or "scattered" by a hash of their ids
mesh::Mesh tet_cube(mpi::Context& context, std::int64_t n, const std::string& start);

/// Compute the integral of 1 / size^3 over the unit cube, by the midpoint rule on n^3 points. Collective.
double complexity(mpi::Context& context, const adapt::SizeFunction& size, int n);

}  // namespace barrio::bench
