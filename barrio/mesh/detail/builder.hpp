#pragma once

#include <vector>

#include "barrio/mesh/detail/memberships.hpp"
#include "barrio/mesh/detail/storage.hpp"
#include "barrio/mesh/detail/words.hpp"

namespace barrio::mesh {

/// Build a Mesh from tables, step by step. Each step is collective.
class MeshBuilder {
 public:
  MeshBuilder(mpi::Context& context, const MeshTables& tables, BuildOptions options, Mesh::Storage& out);
  void build();

 private:
  /// A vertex as this rank knows it while the mesh is built.
  struct Vertex {
    GlobalId id;
    Rank owner;
    std::array<double, 3> x;
  };
  /// A cell of the top dimension, with the nodes as global ids.
  struct Cell {
    GlobalId id;
    Rank owner;
    std::int32_t part;
    CellType type;
    std::uint32_t n_nodes;
    std::size_t first_node;  // in nodes_
  };
  /// Membership of a received entity.
  struct SetMember {
    std::int32_t set;
    Dim dim;
    GlobalId id;
  };

  /// A rank that has a cell with a vertex.
  struct Use {
    GlobalId id;
    Rank user;
  };

  void fetch_cells();
  void fetch_vertices();
  void fetch_ghosts();
  void number_vertices();
  void number_cells();
  void fetch_sides(Dim dim);
  void fill_sets();
  [[nodiscard]] std::span<const GlobalId> nodes_of(const Cell& cell) const {
    return std::span<const GlobalId>(nodes_).subspan(cell.first_node, cell.n_nodes);
  }
  [[nodiscard]] LocalId local_vertex(GlobalId id) const;
  /// Sharers of a vertex of a local cell; empty if only this rank uses it.
  [[nodiscard]] std::span<const Rank> sharers_of(GlobalId id) const;
  /// Ranks that use a vertex homed here.
  [[nodiscard]] std::span<const Use> users_of(GlobalId id) const;
  /// Add entities in local order to a table. @param order  places in a list of cells, in the final order
  void fill_table(EntityTable& table, Dim dim, std::span<const Cell> cells, std::span<const std::size_t> order) const;

  mpi::Context& context_;
  const MeshTables& tables_;
  BuildOptions options_;
  Mesh::Storage& out_;
  std::vector<detail::Membership> members_;  // of rows homed here
  std::vector<Use> uses_;                    // of vertices homed here, by ascending id and rank
  std::vector<Cell> cells_;                  // local, then ghosts
  std::size_t n_local_cells_ = 0;
  std::vector<GlobalId> nodes_;
  std::vector<Vertex> vertices_;  // by ascending id; after fetch_ghosts with the ghosts' vertices
  std::vector<GlobalId> shared_;  // ascending
  std::vector<std::size_t> sharer_offsets_{0};
  std::vector<Rank> sharers_;
  std::vector<std::pair<GlobalId, LocalId>> local_of_;  // by ascending global id
  std::vector<SetMember> set_members_;
};

}  // namespace barrio::mesh
