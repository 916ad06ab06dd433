#pragma once

#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Bits of the tag "status". An entity without any is owned by this rank and used by its cells alone.
enum StatusBit : std::int32_t {
  not_owned = 1,
  shared = 2,        ///< cells of several ranks use it: it lies on an interface
  multi_shared = 4,  ///< of more than two ranks
  ghost = 8          ///< only ghosts use it here; for cells: another rank's
};

/// Who owns and shares the entities of a mesh, as tags on all local vertices, listed entities and cells. Local.
/// - "status": int32, a sum of `StatusBit`
/// - "owner": int32, a rank
/// - "sharers": int32, any number: the ranks whose cells use it, ascending; none for what one rank has alone
/// - "interface": int32, on what is shared: its place in `Mesh::interfaces` of its dimension; its default -1
/// They describe the mesh as it is now: ask again after `migrate`. Cost: O(n_local).
std::vector<MeshTag> sharing_tags(const Mesh& mesh);

}  // namespace barrio::mesh
