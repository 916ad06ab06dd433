#pragma once

#include <span>
#include <string>
#include <vector>

#include "barrio/adapt/sizes.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt {

/// What an error indicator asks for.
struct ErrorTarget {
  double error = 0.0;       ///< that each cell is to have; above 0
  double order = 1.0;       ///< of a cell's error in its size: p where halving the size leaves 2^-p of the error
  double max_change = 4.0;  ///< a size becomes no smaller or larger by more than this factor in one step
};

/// Sizes at vertices from errors of cells, so that all cells come to have the same: size * (target / error)^(1 /
/// order), with the edge of the regular tetrahedron of the same volume as the size that a cell has. Other cells, which
/// stay, ask for their longest edge, whatever their error. Of the cells around a vertex the smallest size counts.
/// Collective.
/// @param[in] errors  of owned cells, shape (n_owned(cell_dim())), 0 or above
/// @return shape (n_local(Dim::vertex)), copies up to date; the same on any number of ranks
/// @throws AgreedError{usage} for a target that is none or a wrong number of errors,
/// {bad_input} for an error below 0 or not finite. Cost: O(n_local), one reduction over sharers
std::vector<double> sizes_from_errors(const mesh::Mesh& mesh, std::span<const double> errors,
                                      const ErrorTarget& target);

/// Make sizes keep to limits: none below the finest or above the largest, and where growth is limited, the largest
/// sizes that are not above the given ones and grow slowly enough. Collective.
/// @param sizes  shape (n_local(Dim::vertex)): owned ones in, all out; the same on any number of ranks
/// @throws AgreedError{usage} for limits that are none: finest not below largest, growth not above 0
/// Cost: O(n_local log n_local); with growth an exchange with neighbours and a reduction for each time that a limit
/// reaches from rank to rank
void limit_sizes(const mesh::Mesh& mesh, std::span<double> sizes, const SizeLimits& limits);

/// Numbers of owned entities in a field or a tag of reals, which all of them have. Collective.
/// @throws AgreedError{usage} saying what is wrong with the name
std::vector<double> real_values(const mesh::Mesh& mesh, const std::string& name, mesh::Dim dim);

}  // namespace barrio::adapt
