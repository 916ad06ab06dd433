#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// The ranks that hold each entity of one dimension (owned, on the interface or as a ghost), and its local id on each.
/// Every holder knows all holders, as after MOAB's ghost exchange. Made when asked for, gone when destroyed.
/// For programs that write into each other's arrays, or number unknowns by (rank, local id).
class RemoteIds {
 public:
  /// Collective. The mesh is used during the call only.
  /// @throws Error{usage} where the mesh has no entities of that dimension
  /// Cost: two neighbourhood rounds between owners and the ranks that hold copies: 4 bytes for each pair of them, then
  /// 8 bytes for each copy and 8 more for each further rank that holds one; no global id travels. Memory O(copies).
  /// Source: Tautges et al. 2012, section IV, steps 6 to 8; here owners tell, so that ranks that share an entity
  /// only by ghosting need no message between each other.
  RemoteIds(const Mesh& mesh, Dim dim);
  /// The same for other values with copies, such as those of `Sides`: owned ones come first in local order.
  RemoteIds(mpi::Context& context, const exchange::HaloPlan& plan);

  /// Local ids of the entities that other ranks hold too, ascending. Without ghosts those are the shared ones.
  [[nodiscard]] std::span<const LocalId> entities() const& noexcept { return entities_; }
  std::span<const LocalId> entities() const&& = delete;
  /// Ranks that hold it, ascending, this one included. @param i  place in `entities()`
  [[nodiscard]] std::span<const Rank> ranks_of(std::size_t i) const& noexcept { return of(ranks_, i); }
  std::span<const Rank> ranks_of(std::size_t i) const&& = delete;
  /// Its local id on each of them.
  [[nodiscard]] std::span<const LocalId> ids_of(std::size_t i) const& noexcept { return of(ids_, i); }
  std::span<const LocalId> ids_of(std::size_t i) const&& = delete;
  /// The place of an entity in `entities()`, or `entities().size()` if no other rank holds it. Local.
  [[nodiscard]] std::size_t find(LocalId id) const noexcept;
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
