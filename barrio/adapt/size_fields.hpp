#pragma once

/// @file Sizes at vertices: from errors of cells, limited in value and growth, or read from the mesh.

#include <span>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt {

/// Target of an error indicator.
struct ErrorTarget {
  double error = 0.0;       ///< wanted error of each cell; above 0
  double order = 1.0;       ///< p, where halving the size of a cell leaves 2^-p of its error; above 0
  double max_change = 4.0;  ///< factor by which a size grows or shrinks at most in one step; at least 1
};

/// Compute sizes at vertices with which all cells would have the wanted error: size * (target / error)^(1 / order),
/// where the size of a tetrahedron is the edge of the regular one of its volume. Cells of other types, which stay, ask
/// for their longest edge, whatever their error. Of the cells around a vertex the smallest size counts. Collective.
/// @param[in] errors  of owned cells, shape (n_owned(cell_dim())), 0 or above
/// @return shape (n_local(Dim::vertex)), copies up to date; the same on any number of ranks
/// @throws AgreedError{usage} for an invalid target or a wrong number of errors,
/// {bad_input} for an error below 0 or not finite. Cost: O(n_local), one reduction over sharers
std::vector<double> sizes_from_errors(const mesh::Mesh& mesh, std::span<const double> errors,
                                      const ErrorTarget& target);

/// Limit sizes: none below min_size or above max_size, and where growth is limited, the largest sizes that are not
/// above the given ones and grow slowly enough. Collective.
/// @param sizes  shape (n_local(Dim::vertex)): owned ones in, all out; the same on any number of ranks
/// @throws AgreedError{usage} unless min_size is at least 0 and below max_size, and growth above 0
/// Cost: O(n_local log n_local); with growth one exchange with neighbours and one reduction each time that a limit
/// spreads to another rank
void limit_sizes(const mesh::Mesh& mesh, std::span<double> sizes, const SizeLimits& limits);

/// Return the values of owned entities from a field or tag of one real number, which all of them must have. Collective.
/// @throws AgreedError{usage} if there is no such field or tag
std::vector<double> real_values(const mesh::Mesh& mesh, const std::string& name, mesh::Dim dim);

}  // namespace barrio::adapt
