#pragma once

/// @file Degenerate cells: count them, or reduce them to the type that they look like.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// Treatment of degenerate cells: those with one vertex at two corners, as at the poles of a grid of longitudes and
/// latitudes.
enum class Degenerate : std::uint8_t {
  keep,    ///< they stay as they are
  reduce,  ///< they take the type they look like: a quad becomes a triangle, a hex a prism, pyramid or tet
};
/// Return the name of a treatment: "keep" or "reduce".
std::string_view name(Degenerate degenerate) noexcept;
/// Return the treatment with a name.
/// @throws Error{usage} for any name but "keep" and "reduce"
Degenerate degenerate_named(std::string_view name);

/// Numbers of degenerate cells over all ranks; the same on every rank.
struct DegenerateCells {
  std::map<std::pair<CellType, CellType>, std::int64_t> reduced;  ///< by old type and new type
  std::map<CellType, std::int64_t> dropped;                       ///< collapsed below their dimension
  std::map<CellType, std::int64_t> kept;                          ///< no smaller type fits

  /// Describe the numbers: "64 quads became triangles, 2 edges were dropped".
  /// @return empty if there were no degenerate cells
  [[nodiscard]] std::string text() const;
};

/// Count degenerate cells; all of them are `kept`. Collective. Cost: one pass over the cells
DegenerateCells count_degenerate(mpi::Context& context, const MeshTables& tables);

/// Replace degenerate cells by cells of the type they look like, with the same orientation. Collective. The new cells
/// move, in order, to new blocks behind all others, one block per type and number of nodes. Cells that collapsed below
/// their dimension are dropped. Sets, parts and tags follow, and so do tag values that are entities. A cell with nodes
/// in the middles of its edges keeps those of the edges that are left. It stays as it is if no type fits (a hex with
/// one edge collapsed), or if it has nodes in the middles of sides. Polygons and polyhedra are ignored.
/// @pre tables are valid (see `validate`) except for degenerate cells
/// Cost: one pass over sound cells; blocks with degenerate cells are sent once
DegenerateCells reduce_degenerate(mpi::Context& context, MeshTables& tables);

}  // namespace barrio::mesh
