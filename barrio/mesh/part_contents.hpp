#pragma once

/// @file Faces, edges and sets that belong to each part.

#include <cstdint>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Contents of parts besides their cells.
struct PartContents {
  /// A set that lies entirely in a part.
  struct Inclusion {
    std::int32_t part;  ///< 0 .. MeshTables::n_parts - 1
    std::int32_t set;   ///< place in MeshTables::sets
    auto operator<=>(const Inclusion&) const = default;
  };
  /// Faces and edges that the tables list, in each part that has a cell with them; `SetRows::set` is the part. Held by
  /// the rank whose slab holds the rows, sorted by (part, dimension, row).
  std::vector<SetRows> rows;
  /// Sets that lie entirely in a part, with all that they contain; the same on every rank, sorted. A set that reaches
  /// into another part belongs to no part: a reader that follows it would take the other part's cells too.
  std::vector<Inclusion> sets;
};

/// Find the faces, edges and sets that belong to each part. Collective.
/// @pre tables.n_parts > 0
/// Cost: each listed side travels to the ranks that use its lowest vertex and back; memory O(n_local), and O(sets) on
/// every rank.
PartContents compute_part_contents(mpi::Context& context, const MeshTables& tables);

}  // namespace barrio::mesh
