#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "barrio/adapt/adapt.hpp"
#include "barrio/adapt/assembly/other_cells.hpp"
#include "barrio/adapt/assembly/set_memberships.hpp"
#include "barrio/adapt/assembly/transfer.hpp"
#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

inline constexpr std::uint16_t unlisted =
    1;  ///< membership of a face of the boundary or between materials that no list has
inline constexpr std::uint64_t of_mesh = 1;  ///< `Key::high` of a vertex that has a global id

/// The kernel's view of a mesh, and what of the mesh it does not hold itself.
struct Imported {
  Tets tets;
  SetMemberships faces;  ///< of listed faces, from `unlisted` + 1
  SetMemberships cells;
  SetMemberships vertices;
  /// Vertices of this rank that are in sets: they stay. As (global id, membership), ascending.
  std::vector<std::pair<GlobalId, std::uint16_t>> vertex_memberships;
  std::vector<mesh::SetInfo> sets;
  Transfer transfer;
  OtherCells others;
};

/// Make the kernel's view: the tetrahedra that have a vertex of this rank, which lie in a layer of ghosts. Sides of
/// other cells are frozen. Collective.
/// @param sizes  at vertices; linear ones in the field `size_field`
/// @param n_expected  tetrahedra that this rank may come to have
/// @pre `check_adaptable` holds; one layer of ghosts over vertices, with listed sides
/// @throws AgreedError{bad_input} naming a cell that is inverted or flat, or an edge whose boundary is no surface
Imported import_mesh(const mesh::Mesh& mesh, const Sizes& sizes, const std::string& size_field,
                     const AdaptOptions& options, std::size_t n_expected);

/// Sizes at the local vertices, from a field of one real number. Collective.
/// @throws AgreedError{usage} if there is no such field, {bad_input} for a size that is not above 0 and finite
std::vector<double> sizes_in_field(const mesh::Mesh& mesh, const std::string& name);

/// Check that cells can be adapted, and find what cannot be kept: values on faces and edges, values that name entities,
/// listed edges. Collective.
/// @return these by name, the same on all ranks. @throws AgreedError{usage} naming a cell with curved sides or with
/// sides that its type does not tell
std::vector<std::string> check_adaptable(const mesh::Mesh& mesh);

}  // namespace barrio::adapt::detail
