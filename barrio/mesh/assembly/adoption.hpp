#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "barrio/mesh/assembly/assembly.hpp"
#include "barrio/mesh/local_mesh.hpp"

namespace barrio::mesh {

/// Makes a mesh from the shares of all ranks. Each step is collective.
class MeshAdoption {
 public:
  /// @param from  not changed until `run`
  MeshAdoption(mpi::Context& context, LocalMesh& from, Mesh::Storage& out);
  /// Check the shares of all ranks and take their contents.
  /// @throws AgreedError{usage}
  void check();
  /// Properties of a mesh that are the same on all ranks: types, numbers of nodes and counts of entities.
  struct Shape {
    std::array<EntityTable, 4> tables;  // without entities
    std::array<bool, 4> is_listed{};
    std::int64_t n_vertices = 0;
  };
  static Shape shape_of(const Mesh::Storage& mesh);
  /// Replace `check` for a local mesh that barrio made and knows to be sound: nothing is compared. Local.
  void trust(Shape shape);
  /// Make the mesh, consuming the local mesh.
  /// @pre `check` succeeded, or `trust` was called
  void run();

 private:
  [[nodiscard]] const LocalEntities& given(Dim dim) const { return from_.entities[index(dim)]; }
  [[nodiscard]] std::int32_t given_sharers(Dim dim, std::size_t at) const {
    const std::vector<std::int32_t>& all = dim == Dim::vertex ? from_.vertex_sharers : given(dim).sharers;
    return all.empty() ? -1 : all[at];
  }
  // check_local.cpp
  void check_arrays();
  void check_sharers(std::span<const std::int32_t> sharers, std::size_t n) const;
  void check_entities(Dim dim);
  void check_members() const;
  /// Agree on the shapes of tables and on all else that must be the same on every rank. Collective.
  void agree_on_shapes();
  void check_distinct() const;
  // Compare shared entities with their other sharers, and drop sharers that no longer use them. Collective.
  void confer();
  /// Hash the properties of an entity on which its sharers must agree.
  [[nodiscard]] std::uint64_t hash_of(Dim dim, std::size_t at, std::span<const Rank> ranks) const;
  /// A rank's report that it no longer uses an entity.
  struct Leaving {
    Dim dim;
    std::int32_t place;
    Rank rank;
    auto operator<=>(const Leaving&) const = default;
  };
  /// @param leaving  in any order
  void drop_users(std::vector<Leaving> leaving);
  /// Return the ranks that share something with this one by its own data, ascending.
  [[nodiscard]] std::vector<Rank> ranks_named() const;
  /// List, for each rank, the own cells that it may have too because it shares all their vertices.
  [[nodiscard]] std::vector<std::vector<GlobalId>> cells_between(std::span<const Rank> ranks) const;

  // Take the entities that cells use, by ascending global id.
  void take_own();
  void take_vertices();
  void take_cells();
  /// Record an entity that other ranks take for shared but no own cell uses.
  /// @return !is_used
  bool leave_out(Dim dim, std::int32_t at, bool is_used);
  /// Draw owners.
  void take_sharers();
  void take_sides(Dim dim);
  /// Leave out the sides that no own cell has.
  void leave_out_sides(Dim dim);
  /// Append entities, given by their places, with their vertices by place in `order_`.
  void add_given(Dim dim, std::span<const std::int32_t> order, EntityTable& to);
  [[nodiscard]] detail::HeldSides held_sides(Dim dim);
  void take_sets();
  /// Free the given arrays that have been copied.
  void free_given();
  void take_values(detail::Ghosts& ghosts);
  /// Return the place in the local mesh of each entity of the new mesh; -1: it came from another rank.
  [[nodiscard]] std::vector<std::int32_t> origins_of(Dim dim) const;
  void count();

  mpi::Context& context_;
  BuildOptions options_;
  Mesh::Storage& out_;
  LocalMesh& from_;
  bool is_trusted_ = false;
  detail::KnownCells known_;  // until they are numbered
  detail::Numbered numbered_;
  std::optional<detail::GhostChoice> choice_;
  std::array<std::vector<detail::SetRun>, 4> set_runs_;  // memberships of listed sides, as runs of places
  std::array<std::vector<std::int32_t>, 4> order_;       // by dimension: given places by ascending global id
  std::array<std::vector<std::int32_t>, 4> place_;       // by dimension and given place: place in `order_`, or -1
  std::array<std::size_t, 4> n_given_{};
  std::vector<SetInfo> infos_;
  std::array<bool, 4> is_listed_{};                   // by dimension: some rank has sides of it
  std::array<EntityTable, 4> shapes_;                 // of tables of listed sides, without entities
  std::array<EntityTable, 4> sides_;                  // by place; nodes are places
  std::array<std::vector<std::int32_t>, 4> sharers_;  // of sides, by place: number in `users_`; for vertices in known_
  std::array<std::vector<std::int32_t>, 4> unused_;   // by dimension: given places of shared entities without own cells
  RankSets users_;                                    // the given sets first
};

}  // namespace barrio::mesh
