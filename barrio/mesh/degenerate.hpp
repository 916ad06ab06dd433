#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "barrio/mesh/tables.hpp"

namespace barrio::mesh {

/// What to do about degenerate cells: those with one vertex at two corners, as at the poles of a grid of longitudes and
/// latitudes.
enum class Degenerate : std::uint8_t {
  keep,    ///< they stay as they are
  reduce,  ///< they become what they look like: a quad a triangle, a hex a prism, pyramid or tet, and so on
};
std::string_view name(Degenerate degenerate) noexcept;
/// @throws Error{usage} for any other name than "keep" and "reduce"
Degenerate degenerate_named(std::string_view name);

/// How many cells were degenerate, over all ranks; the same on every rank.
struct DegenerateCells {
  std::map<std::pair<CellType, CellType>, std::int64_t> reduced;  ///< by what they were and what they became
  std::map<CellType, std::int64_t> dropped;                       ///< those that had collapsed below their dimension
  std::map<CellType, std::int64_t> kept;                          ///< those that no smaller type fits

  /// "64 quads became triangles, 2 edges were dropped". @return empty if there were none
  [[nodiscard]] std::string text() const;
};

/// Count degenerate cells; all of them are `kept`. Collective. Cost: one pass over the cells
DegenerateCells count_degenerate(mpi::Context& context, const MeshTables& tables);

/// Replace degenerate cells by cells of the type they look like, with the same orientation. Collective. They move,
/// in order, to new blocks behind all others, one for each type; what has collapsed below its dimension is dropped.
/// Sets, parts and tags follow, and so do tag values that are entities. Cells stay as they are if no type fits (a hex
/// with one edge collapsed), or if they have more nodes than corners. Polygons and polyhedra are ignored.
/// @pre tables are valid (see `validate`) but for degenerate cells
/// Cost: one pass over sound cells; blocks that have degenerate ones are sent once
DegenerateCells reduce_degenerate(mpi::Context& context, MeshTables& tables);

}  // namespace barrio::mesh
