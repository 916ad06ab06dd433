#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "barrio/exchange/halo.hpp"
#include "barrio/mesh/assembly/ghosts/ghosts.hpp"

namespace barrio::mesh::detail {

/// Vertices and cells in the local order: interior, fringe, then copies grouped by owner, so that a halo receive lands
/// in place. Listed sides follow (`place_sides`), then the mesh is put together.
struct Numbered {
  Dim cell_dim = Dim::volume;
  VertexTable vertices;
  EntityTable cells;
  std::vector<std::int32_t> parts;
  std::shared_ptr<const exchange::HaloPlan> vertex_halo;
  std::shared_ptr<const exchange::HaloPlan> cell_halo;
  // By place:
  IdIndex index;  ///< of vertices
  std::vector<LocalId> vertex_at;
  std::vector<LocalId> cell_at;
  std::vector<SetRun> vertex_sets;
  std::vector<SetRun> cell_sets;

  /// Return the local id of a vertex that this rank knows, or no_local_id.
  [[nodiscard]] LocalId local_vertex(GlobalId id) const {
    const std::int32_t place = index.find(id);
    return place < 0 ? no_local_id : vertex_at[place];
  }
};

/// Bring vertices and cells into the local order. Collective: one round tells owners which vertices are copied.
/// @param known  consumed step by step
Numbered number(mpi::Context& context, KnownCells known, Ghosts& ghosts);

}  // namespace barrio::mesh::detail
