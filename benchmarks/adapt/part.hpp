#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/adapt/kernel/operator.hpp"
#include "barrio/adapt/kernel/sizes.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::bench {

/// Name of the field on vertices of the operators that must visit it, as in `Vertex::active`.
inline constexpr const char* open_field = "operators that have to look";
/// Name of the field on cells of target ranks.
inline constexpr const char* target_field = "rank to go to";

/// The next free ids, the same on all ranks.
struct NextIds {
  std::int64_t vertex = 0;
  std::int64_t cell = 0;
};

/// The kernel's view of one rank's own cells. Vertices that several ranks use have no owner there: no operator visits
/// them. All others have their complete star here. Local, except `give`.
class Part {
 public:
  /// Make the kernel's view: the slot of a vertex or cell is its position.
  /// @param local  consumed. @pre tetrahedra that fill the unit cube; the field `open_field`
  Part(mesh::LocalMesh&& local, const adapt::detail::Sizes& sizes, const adapt::detail::Limits& limits);

  [[nodiscard]] adapt::detail::Tets& tets() noexcept { return tets_; }
  /// Return the slots of vertices that several ranks use; they do not move.
  [[nodiscard]] std::span<const adapt::detail::Slot> shared() const noexcept { return shared_; }
  /// Return the ranks that use a shared vertex, ascending.
  [[nodiscard]] std::span<const Rank> sharers_of(adapt::detail::Slot v) const noexcept {
    return local_.rank_sets[local_.vertex_sharers[v]];
  }
  [[nodiscard]] GlobalId id_of(adapt::detail::Slot v) const noexcept { return local_.vertex_ids[v]; }
  /// Activate smoothing at the vertices of bad tetrahedra. @pre no tetrahedron has changed
  void open_bad();
  /// Note which operators may find work at shared vertices, from the present cells.
  void note_shared();

  /// Convert back to a local mesh. Collective. @param to  rank of each tetrahedron, by slot
  mesh::LocalMesh give(mpi::Context& context, std::span<const Rank> to, NextIds& next) &&;

 private:
  void add_vertices(const adapt::detail::Sizes& sizes);
  void add_tets();
  void give_vertices(mesh::LocalMesh& out, std::int64_t first_id);
  void give_cells(mesh::LocalMesh& out, std::span<const Rank> to, std::int64_t first_id) const;
  [[nodiscard]] bool is_new(const adapt::detail::Vertex& vertex) const noexcept;

  mesh::LocalMesh local_;
  const adapt::detail::Limits& limits_;
  adapt::detail::Tets tets_;
  std::vector<adapt::detail::Slot> shared_;
  std::vector<std::int32_t> place_;  // of each vertex in the result of `give`
};

}  // namespace barrio::bench
