#pragma once

/// @file Adjacency lists: entities around vertices, cells of sides, and the skin of a set of cells.

#include <cstdint>
#include <span>

#include "barrio/base/ragged.hpp"
#include "barrio/mesh/sides.hpp"

namespace barrio::mesh {

/// Compressed adjacency lists: for each of some local entities, the adjacent ones, 4 bytes an entry. A mesh holds none
/// of these; they are made on request and gone when destroyed.
class Adjacency {
 public:
  /// Return the entities adjacent to one, ascending.
  [[nodiscard]] std::span<const LocalId> operator[](LocalId id) const& noexcept { return lists_[index(id)]; }
  std::span<const LocalId> operator[](LocalId id) const&& = delete;
  /// Return the number of entities that have a list, empty lists included.
  [[nodiscard]] std::size_t size() const noexcept { return lists_.size(); }
  /// Return the bytes that the lists take on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  /// Invert lists of targets: list the sources of each target.
  /// @param visit_targets  called as (source, visitor), twice
  template <class VisitTargets>
  static Adjacency inverse(std::size_t n_sources, std::size_t n_targets, VisitTargets&& visit_targets) {
    Adjacency out;
    out.lists_ = Lists::grouped(n_targets, [&](auto&& put) {
      for (std::size_t source = 0; source < n_sources; ++source)
        visit_targets(source, [&](LocalId target) { put(index(target), local_id(source)); });
    });
    return out;
  }

 private:
  using Lists = Ragged<LocalId, std::uint32_t>;
  Lists lists_;
};

/// List the local entities of one dimension, ghosts included, around each local vertex. Local. Cost: O(n_local).
/// @param dim  Dim::edge to the cells' dimension; below it, only entities that the file lists
Adjacency around_vertices(const Mesh& mesh, Dim dim);

/// List the local cells, ghosts included, of each side. Local. Cost: O(n_local).
/// @param sides  made from the mesh; a face of volumes has one or two cells
Adjacency cells_of_sides(const Mesh& mesh, const Sides& sides);

/// Find the sides that exactly one of the given cells has: their boundary as one rank sees it. Local. Cost: O(n_local).
/// @param[in] cells  local, ghosts included
Range local_skin(const Sides& sides, const Range& cells);

/// Find the sides that exactly one cell of a set has, over all ranks: the set's boundary in the whole mesh. Collective.
/// @param[in] cells  the set's cells on this rank; ghosts among them are ignored
/// @return local sides of this rank's cells, whichever rank owns them
/// Cost: O(n_local), a reduction and a halo exchange of one byte a side. Does not depend on the rank count.
/// Source: Tautges et al. 2012, section IV, where the skin is the first step of sharing; barrio uses it for nothing
/// else.
Range skin(const Mesh& mesh, const Sides& sides, const Range& cells);

}  // namespace barrio::mesh
