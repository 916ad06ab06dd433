#pragma once

/// @file Owners and sharers of the entities of a mesh, as tags.

#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Bits of the tag "status". An entity with no bit set is owned by this rank and used by its cells alone.
enum StatusBit : std::int32_t {
  not_owned = 1,     ///< another rank owns it
  shared = 2,        ///< cells of several ranks use it: it lies on an interface
  multi_shared = 4,  ///< cells of more than two ranks use it
  ghost = 8          ///< only ghosts use it here; for cells: another rank owns it
};

/// Make tags of the owners and sharers of all local vertices, listed entities and cells. Local.
/// - "status": int32, a sum of `StatusBit`
/// - "owner": int32, a rank
/// - "sharers": int32, any number: the ranks whose cells use it, ascending; empty if only one rank uses it
/// - "interface": int32, on shared entities: place in `Mesh::interfaces` of their dimension; the default is -1
/// The tags describe the mesh as it is now: make them again after `migrate`. Cost: O(n_local).
std::vector<MeshTag> sharing_tags(const Mesh& mesh);

}  // namespace barrio::mesh
