#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/assembly/held_sides.hpp"
#include "barrio/mesh/assembly/numbered.hpp"
#include "barrio/mesh/assembly/selection.hpp"
#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mesh/local_mesh.hpp"

namespace barrio::mesh {

/// Conversions between a Mesh and its components. A mesh is built through a chain of values: KnownCells, to which
/// ghosts are added, Numbered, PlacedSides, Mesh. MeshBuilder starts the chain from tables, MeshAdoption from a
/// LocalMesh.
class MeshAssembly {
 public:
  static Mesh adopted(mpi::Context& context, LocalMesh&& local);
  /// Make the same mesh with its cells on other ranks; see MeshMigration.
  /// @param old  consumed
  static Mesh moved(Mesh::Storage& old, std::span<const Rank> to, exchange::Termination termination);
  /// Take a mesh apart, with its ghosts and without sharers. Local; arrays are moved.
  /// @param old  consumed
  static LocalMesh taken_apart(Mesh::Storage& old);
  /// Drop the entities of one dimension that are not chosen; arrays are compacted in place. Local.
  /// @param place_of_vertex  new place of each vertex that kept entities have; empty: as before
  static void keep(LocalMesh& mesh, Dim dim, const detail::Selection& kept,
                   std::span<const std::int32_t> place_of_vertex);
  /// Put tables, sets and plans into a mesh. Local.
  /// @param[in,out] numbered  keeps its data by place
  static void put_together(Mesh::Storage& out, detail::Numbered& numbered, std::array<detail::PlacedSides, 4>& sides,
                           std::span<const SetInfo> infos);
};

}  // namespace barrio::mesh
