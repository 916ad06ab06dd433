#pragma once

#include <cstdint>
#include <span>

#include "barrio/base/ragged.hpp"
#include "barrio/mesh/sides.hpp"

namespace barrio::mesh {

/// For each of some local entities a list of others, compressed: 4 bytes an entry. A mesh holds none of these; they are
/// made when asked for and gone when destroyed.
class Adjacency {
 public:
  /// Entities next to one, ascending.
  [[nodiscard]] std::span<const LocalId> operator[](LocalId id) const& noexcept { return lists_[index(id)]; }
  std::span<const LocalId> operator[](LocalId id) const&& = delete;
  [[nodiscard]] std::size_t size() const noexcept { return lists_.size(); }
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

  /// Invert lists of targets: list the sources of each. @param visit_targets  called as (source, visitor), twice
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

/// Local entities of one dimension, ghosts included, around each local vertex. Local. Cost: O(n_local).
/// @param dim  Dim::edge to the cells' dimension; below it those that the file lists
Adjacency around_vertices(const Mesh& mesh, Dim dim);

/// Local cells, ghosts included, that have each side. Local. Cost: O(n_local).
/// @param sides  made from the mesh; a face of volumes has one or two cells
Adjacency cells_of_sides(const Mesh& mesh, const Sides& sides);

/// Sides that exactly one of some cells has: their boundary as one rank sees it. Local. Cost: O(n_local).
/// @param[in] cells  local, ghosts included
Range local_skin(const Sides& sides, const Range& cells);

/// Sides that exactly one of the cells of all ranks has: the boundary of a set of the whole mesh. Collective.
/// @param[in] cells  the set's cells on this rank; ghosts among them are passed over
/// @return local sides that this rank's cells have, whoever owns them
/// Cost: O(n_local), a reduction and a halo exchange of one byte a side. Does not depend on the rank count.
/// Source: Tautges et al. 2012, section IV, where the skin is the first step of sharing; here nothing else needs it.
Range skin(const Mesh& mesh, const Sides& sides, const Range& cells);

}  // namespace barrio::mesh
