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

/// Field on vertices: operators that have not looked since something changed around it, as `Vertex::active` has them.
inline constexpr const char* open_field = "operators that have to look";
/// Field on cells: the rank that each is to go to.
inline constexpr const char* target_field = "rank to go to";

/// Ids that no rank has given yet, the same on all ranks.
struct NextIds {
  std::int64_t vertex = 0;
  std::int64_t cell = 0;
};

/// The cells of one rank as the kernel sees them, without any of others. Vertices that several ranks use are nobody's
/// there: no operator is asked about them. All others have their whole star here. Local, but for `give`.
class Part {
 public:
  /// Make the kernel's view: a vertex has its place as its slot, and a cell its place.
  /// @param local  consumed. @pre tetrahedra that fill the unit cube; the field `open_field`
  Part(mesh::LocalMesh&& local, const adapt::detail::Sizes& sizes, const adapt::detail::Limits& limits);

  [[nodiscard]] adapt::detail::Tets& tets() noexcept { return tets_; }
  /// Slots of vertices that several ranks use: they stay where they are.
  [[nodiscard]] std::span<const adapt::detail::Slot> shared() const noexcept { return shared_; }
  /// Ranks that use a shared vertex, ascending.
  [[nodiscard]] std::span<const Rank> sharers_of(adapt::detail::Slot v) const noexcept {
    return local_.rank_sets[local_.vertex_sharers[static_cast<std::size_t>(v)]];
  }
  [[nodiscard]] GlobalId id_of(adapt::detail::Slot v) const noexcept { return local_.vertex_ids[v]; }
  /// Let smoothing look at the vertices of bad tetrahedra. @pre none has changed
  void open_bad();
  /// Note which operators may find something to do at shared vertices, from the cells that are here now.
  void note_shared();

  /// Make the mesh's own form again. Collective. @param to  rank of each tetrahedron, by slot
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
  std::vector<std::int32_t> place_;  // of each vertex in what is given
};

}  // namespace barrio::bench
