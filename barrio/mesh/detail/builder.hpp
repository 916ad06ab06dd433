#pragma once

#include <array>
#include <optional>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/detail/id_index.hpp"
#include "barrio/mesh/detail/set_runs.hpp"
#include "barrio/mesh/detail/storage.hpp"

namespace barrio::mesh {

/// Build a Mesh from tables, step by step. Each step is collective.
///
/// Until the end vertices and cells are known by their places: the order in which this rank got to know them. Places of
/// the vertices that its cells use ascend with global ids, those of ghosts' vertices follow; places of cells ascend
/// with global ids too, ghosts follow. The last step puts both in the local order of the mesh.
class MeshBuilder {
 public:
  MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out);
  void build();

 private:
  /// Places for each of several ranks, ascending.
  struct PlacesByRank {
    std::vector<Rank> ranks;
    std::vector<std::vector<std::int32_t>> places;
    std::vector<std::int32_t>& of(Rank rank);
  };

  // fetch_cells.cpp
  void fetch_cells();
  /// @tparam Node  in which vertices travel: 32 bits where they suffice for the mesh
  template <class Node>
  void fetch_cells_with(EntityTable& table);
  // resolve_vertices.cpp
  void resolve_vertices();
  // fetch_ghosts.cpp
  void fetch_ghosts();
  /// Send to each rank the cells around the vertices that it reaches, those that it does not have yet; take in theirs.
  /// @param reached  for each vertex place the number of the set of ranks that reach it, or -1
  /// Neither is used any more once cells of others come in, which may change both.
  void exchange_layer(std::span<const std::int32_t> reached, const RankSets& sets);
  /// Tell the users of new vertices that this rank has come to them. @return who reaches what, as exchange_layer wants
  /// it
  std::vector<std::int32_t> announce_reach(std::size_t first_new, RankSets& sets);
  void unpack_ghosts(Rank from, std::span<const std::byte> message);
  // number.cpp
  void number_vertices();
  void plan_vertex_halo();
  void number_cells();
  /// Give a table the shape that all ranks know alike: one type, one number of nodes, or one per entity.
  void shape_table(EntityTable& table, Dim dim) const;
  // fetch_sides.cpp
  void fetch_sides(Dim dim);
  void fill_sets();
  /// Add to a set the members of those that it contains. @param is_full  sets that have theirs
  void add_contained(std::size_t set, std::vector<bool>& is_full);
  // fetch_tags.cpp
  void fetch_tags();
  void fetch_tags_of(Dim dim);

  /// Local id of a vertex that this rank knows, or no_local_id.
  [[nodiscard]] LocalId local_vertex(GlobalId id) const {
    const std::int32_t place = index_.find(id);
    return place < 0 ? no_local_id : vertex_at_[static_cast<std::size_t>(place)];
  }
  /// Ranks that use a vertex homed here, ascending.
  [[nodiscard]] std::span<const Rank> users_of(GlobalId id) const;
  /// Room for ghosts behind n own items, so that they come without moving what is there. It is not touched before.
  [[nodiscard]] std::size_t with_room(std::size_t n) const noexcept {
    return options_.ghost_layers > 0 ? n + n / 4 : n;
  }
  [[nodiscard]] EntityTable& cells() { return out_.entities[static_cast<std::size_t>(value(out_.cell_dim))]; }

  mpi::Context& context_;
  const MeshTables& tables_;
  BuildOptions options_;
  Mesh::Storage& out_;
  detail::HomeRuns home_runs_;
  /// Memberships of what this rank has, as runs of places; for dimensions without places of local ids.
  std::array<std::vector<detail::SetRun>, 4> set_runs_;

  detail::IdIndex index_;   // of vertices
  std::size_t n_used_ = 0;  // vertices of own cells
  std::vector<double> coordinates_;
  std::vector<Rank> vertex_owners_;
  std::vector<std::int32_t> sharers_at_;    // by place: number of the set of ranks whose cells use it, -1 for one rank
  std::vector<std::int32_t> user_at_home_;  // by row homed here: -1 none, a rank, or -2 - number in user_sets_
  RankSets user_sets_;

  std::size_t n_own_cells_ = 0;
  std::vector<Rank> ghost_owners_;
  std::optional<exchange::Neighborhood> hood_;
  PlacesByRank sent_;                       // own cells that are ghosts elsewhere, ascending
  std::size_t first_new_ = 0;               // vertices from here on came with the last layer
  std::vector<std::uint8_t> touches_copy_;  // by cell place
  std::vector<LocalId> cell_at_;            // local id by place
  std::vector<LocalId> vertex_at_;          // local id by place
};

}  // namespace barrio::mesh
