#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/assembly/other_cells.hpp"
#include "barrio/adapt/assembly/set_memberships.hpp"
#include "barrio/adapt/assembly/side_values.hpp"
#include "barrio/adapt/assembly/transfer.hpp"
#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Membership of a face on the boundary or between materials that is not listed.
inline constexpr std::uint16_t unlisted = 1;

/// An imported mesh: the kernel's tetrahedra, and the data of the mesh that the kernel does not hold.
struct Imported {
  Tets tets;
  SetMemberships edges;  ///< of listed edges, from 1
  SetMemberships faces;  ///< of listed faces, from `unlisted` + 1
  SetMemberships cells;
  std::vector<mesh::SetInfo> sets;
  Transfer transfer;
  SideValues side_values;
  OtherCells others;
  std::vector<HeldBy> held;  ///< of each slot that is a vertex of this rank; empty unless wanted as a field
};

/// Import a mesh: all tetrahedra that have a vertex of this rank, with those of the layer of ghosts. Faces at cells of
/// other types are frozen. Collective.
/// @param sizes  at vertices; linear ones are in the field `size_field`
/// @param side_values  of the mesh, wherever its cells are
/// @param n_expected  number of tetrahedra that this rank is expected to get
/// @pre `check_adaptable` passed; one layer of ghosts over vertices, with listed sides
/// @throws AgreedError{bad_input} naming an inverted or flat cell, or an edge where the boundary is not a surface
Imported import_mesh(const mesh::Mesh& mesh, const Sizes& sizes, const std::string& size_field,
                     const AdaptOptions& options, SideValues side_values, std::size_t n_expected);

/// Return the sizes at the local vertices, from a field of one real number. Collective.
/// @throws AgreedError{usage} if there is no such field, {bad_input} for a size that is not above 0 and finite
std::vector<double> sizes_in_field(const mesh::Mesh& mesh, const std::string& name);

/// Check that cells can be adapted, and find the data that cannot be kept: values that are entities, and fields and
/// tags with too many distinct values on faces and edges. Collective.
/// @return their names, the same on all ranks. @throws AgreedError{usage} naming a cell or listed side with curved
/// sides, or a cell of a type that does not determine its sides
std::vector<std::string> check_adaptable(const mesh::Mesh& mesh, const SideValues& side_values);

}  // namespace barrio::adapt::detail
