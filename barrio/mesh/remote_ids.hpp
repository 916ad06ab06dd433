#pragma once

/// @file Local ids of an entity on all ranks that hold it.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Ranks that hold each entity of one dimension (owned, on the interface or as a ghost), and its local id on each of
/// them. Every holder knows all holders, as after MOAB's ghost exchange. Made on request, gone when destroyed. For
/// programs that write into each other's arrays, or number unknowns by (rank, local id).
class RemoteIds {
 public:
  /// Exchange the local ids of all copies. Collective. The mesh is used during the call only.
  /// @throws Error{usage} if the mesh has no entities of that dimension
  /// Cost: two neighbourhood rounds between owners and the ranks that hold copies: 4 bytes for each pair of them, then
  /// 8 bytes for each copy and 8 more for each further rank that holds one; no global id travels. Memory O(copies).
  /// Source: Tautges et al. 2012, section IV, steps 6 to 8; here owners inform the holders. Ranks that share an entity
  /// only by ghosting need no message between each other.
  RemoteIds(const Mesh& mesh, Dim dim);
  /// Exchange the local ids of other values with copies, such as those of `Sides`. Owned values come first in local
  /// order.
  RemoteIds(mpi::Context& context, const exchange::HaloPlan& plan);

  /// Return the local ids of the entities that other ranks hold too, ascending. Without ghosts these are the shared
  /// ones.
  [[nodiscard]] std::span<const LocalId> entities() const& noexcept { return entities_; }
  /// Refuse a temporary: its ids end with it.
  std::span<const LocalId> entities() const&& = delete;
  /// Return the ranks that hold an entity, ascending, this one included.
  /// @param i  place in `entities()`
  [[nodiscard]] std::span<const Rank> ranks_of(std::size_t i) const& noexcept { return of(ranks_, i); }
  /// Refuse a temporary: its ranks end with it.
  std::span<const Rank> ranks_of(std::size_t i) const&& = delete;
  /// Return the local id of an entity on each of `ranks_of(i)`.
  [[nodiscard]] std::span<const LocalId> ids_of(std::size_t i) const& noexcept { return of(ids_, i); }
  /// Refuse a temporary: its ids end with it.
  std::span<const LocalId> ids_of(std::size_t i) const&& = delete;
  /// Find the place of an entity in `entities()`; `entities().size()` if no other rank holds it. Local.
  [[nodiscard]] std::size_t find(LocalId id) const noexcept;
  /// Return the bytes of the ids and ranks on this rank.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  template <class T>
  [[nodiscard]] std::span<const T> of(const std::vector<T>& all, std::size_t i) const noexcept {
    return std::span<const T>(all).subspan(offsets_[i], offsets_[i + 1] - offsets_[i]);
  }
  std::vector<LocalId> entities_;
  std::vector<std::size_t> offsets_{0};
  std::vector<Rank> ranks_;
  std::vector<LocalId> ids_;
};

}  // namespace barrio::mesh
