#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::bench {

/// A mesh that follows a size, and what is asked of it.
struct AdaptCase {
  std::string name;
  std::vector<adapt::SizeFunction> sizes;  ///< one after the other; the last step is timed
  double min_quality;                      ///< goals: mean ratio
  double mean_quality;
  double fewest;  ///< cells, in times of the integral of 1 / size^3
  double most;
};

/// CUBE, a plane shock: nearly all of the mesh is coarsened. BUBBLE, five bubbles that move by a fifth of their radius.
/// Source: Ovcharenko et al. 2012, section 7; these sizes are ours.
/// @throws Error{usage} for another name
AdaptCase adapt_case(const std::string& name, double scale);

/// The unit cube of n^3 boxes of six tets each. Collective.
/// @param start  where cells are: "slabs" cut along z, all on "one" rank, or "scattered" by a hash of their ids
mesh::Mesh tet_cube(mpi::Context& context, std::int64_t n, const std::string& start);

/// The integral of 1 / size^3 over the unit cube, by the midpoint rule on n^3 points. Collective.
double complexity(mpi::Context& context, const adapt::SizeFunction& size, int n);

}  // namespace barrio::bench
