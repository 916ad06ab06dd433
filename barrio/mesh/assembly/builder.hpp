#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/assembly.hpp"

namespace barrio::mesh {

/// Builds a Mesh from tables, step by step. Each step is collective.
class MeshBuilder {
 public:
  MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out);
  /// @param[in,out] tables  consumed: their memory is freed as soon as it is not needed
  MeshBuilder(mpi::Context& context, MeshTables&& tables, BuildOptions options, Mesh::Storage& out);
  void build();

 private:
  // fetch_cells.cpp
  void fetch_cells();
  /// @tparam Node  type of vertices in messages: 32 bits where they suffice for the mesh
  /// @param[out] all_nodes  of all own cells, cell after cell, as the numbers of their global ids
  template <class Node, class Kept>
  void fetch_cells_with(EntityTable& table, std::vector<Kept>& all_nodes);
  /// Set a table's shape, the same on every rank: one type, one number of nodes, or one per entity.
  void shape_table(EntityTable& table, Dim dim) const;
  // resolve_vertices.cpp
  struct VertexAnswer;
  struct VertexAnswerView;
  void resolve_vertices();
  void note_users(const exchange::Parcels<std::int32_t>& asked);
  [[nodiscard]] VertexAnswer answer_to(std::span<const std::int32_t> request) const;
  void answer_requests(const exchange::Parcels<std::int32_t>& asked);
  void take_answer(const VertexAnswerView& answer, std::size_t first_place);
  /// Return the ranks that use a vertex homed here, ascending.
  [[nodiscard]] std::span<const Rank> users_of(GlobalId id) const;
  // fetch_sides.cpp
  struct SideClaims;
  using HeldSides = detail::HeldSides;
  /// Bring listed sides to the ranks that use their lowest vertex. Collective.
  [[nodiscard]] exchange::Parcels<std::byte> offer_sides(std::int32_t& n_contested);
  /// Take those of the offered sides that this rank's cells have, and claim the contested ones.
  [[nodiscard]] SideClaims claim_sides(const exchange::Parcels<std::byte>& offered, std::array<HeldSides, 4>& held);
  /// Find the sharers of the contested sides. Collective.
  void share_sides(const SideClaims& claims, std::int32_t n_contested, std::array<HeldSides, 4>& held);
  /// Fetch the listed sides that this rank's cells have, by dimension. Collective.
  [[nodiscard]] std::array<HeldSides, 4> fetch_sides();
  // fetch_tags.cpp
  void fetch_tags();
  void fetch_tags_of(Dim dim);
  /// Count entities over all ranks, and log how many in the tables belong to no cell.
  void count_left_out();
  /// Describe the sets that lose entities of a dimension, and how many. Collective. @return empty if none does
  [[nodiscard]] std::string losses_of_sets(Dim dim) const;

  /// Free nodes and parts of cells in tables that may be consumed.
  void free_cells();

  mpi::Context& context_;
  BuildOptions options_;
  Mesh::Storage& out_;
  const MeshTables& tables_;
  MeshTables* consumed_ = nullptr;  // the same tables, if they may be consumed
  detail::HomeRuns home_runs_;
  std::vector<std::int32_t> user_at_home_;  // by row homed here: -1: no user; a rank; or -2 - number in user_sets_
  RankSets user_sets_;
  detail::KnownCells known_;  // until they are numbered
  detail::Numbered numbered_;
  std::array<EntityTable, 4> shapes_;  // of tables of listed sides, without entities
};

}  // namespace barrio::mesh
