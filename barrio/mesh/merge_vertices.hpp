#pragma once

/// @file Merging of vertices of one mesh that are known to be one, as at the interfaces of its zones.

#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Two rows of vertices that are one vertex.
struct VertexPair {
  GlobalId a;
  GlobalId b;
};

struct MergedVertices {
  std::int64_t n_merged = 0;            ///< number of vertices that became another one; the same on every rank
  std::vector<GlobalId> new_rows = {};  ///< of each row of this rank's slab before
};

/// Merge vertices by pairs of rows, whatever their positions. Collective. Pairs act through others too: with (1, 2) and
/// (2, 3), three vertices become one. The result does not depend on the rank count, nor on who holds which pair.
///
/// Of vertices that become one, the lowest row stays, with its coordinates; rows are numbered again, in their order.
/// Cells keep their rows. Sets keep their members; an ordered set that listed several of them lists one several times.
/// Of each tag, the value of the lowest row that has one stays. Values that are entities name the new rows.
///
/// A cell with several corners in one class becomes degenerate (see `validate_all_but_degenerate`): whether that is
/// meant, and what becomes of it (see `reduce_degenerate`), is the caller's choice.
/// @param[in] pairs  any pairs, on any ranks; repeated ones, and pairs of a row with itself, do no harm
/// @throws AgreedError{bad_input} naming `subject` if a row does not exist; the tables are then unchanged
/// Cost: memory O(slab + pairs of its vertices); all routes are without a collective call per rank. Rounds grow like
/// the logarithm of the longest chain of pairs.
MergedVertices merge_vertices(mpi::Context& context, MeshTables& tables, const std::vector<VertexPair>& pairs,
                              const std::string& subject);

}  // namespace barrio::mesh
