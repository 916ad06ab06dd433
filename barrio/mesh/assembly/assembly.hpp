#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/assembly/selection.hpp"
#include "barrio/mesh/assembly/side_message.hpp"
#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mesh/tables/id_index.hpp"
#include "barrio/mesh/tables/set_runs.hpp"

namespace barrio::mesh {

/// Put a Mesh together once its ranks know their own cells: add ghosts, plan exchanges, bring all into the local order.
/// Derived classes find the own cells. Each step is collective.
///
/// Until the end, vertices and cells are identified by place: the order in which this rank first met them. Own cells,
/// and the vertices that they use, come first and ascend with global ids; ghosts and their vertices follow.
class MeshAssembly {
 public:
  static Mesh adopted(mpi::Context& context, LocalMesh&& local);
  /// The same mesh with its cells elsewhere. @param old  consumed; see MeshMigration
  static Mesh moved(Mesh::Storage& old, std::span<const Rank> to, exchange::Termination termination);
  /// Take a mesh apart, with its ghosts and without sharers. Local; arrays are moved. @param old  consumed
  static LocalMesh taken_apart(Mesh::Storage& old);
  /// Drop the entities of one dimension that are not chosen; arrays are compacted in place. Local.
  /// @param place_of_vertex  new place of each vertex that kept entities have; empty: as before
  static void keep(LocalMesh& mesh, Dim dim, const detail::Selection& kept,
                   std::span<const std::int32_t> place_of_vertex);

 protected:
  using Storage = Mesh::Storage;

  MeshAssembly(mpi::Context& context, BuildOptions options, Storage& out)
      : context_(context), options_(std::move(options)), out_(out) {}

  /// Places for each of several ranks, ascending.
  struct PlacesByRank {
    std::vector<Rank> ranks;
    std::vector<std::vector<std::int32_t>> places;
    std::vector<std::int32_t>& of(Rank rank);
  };

  /// Listed entities of one dimension, before they have their place in the local order. Vertices are local ids.
  struct HeldSides {
    struct Side {
      GlobalId id;
      CellType type;
      std::int32_t n_nodes;
      std::size_t first_node;
      Rank owner;
      std::int32_t sharer_set;  // -1: this rank's alone, or a ghost
    };
    std::vector<Side> sides;
    std::vector<LocalId> nodes;
    std::vector<detail::SetRun> sets;  // by place in `sides`

    void add(GlobalId id, CellType type, std::span<const LocalId> of_side, Rank owner);
    [[nodiscard]] std::size_t size() const noexcept { return sides.size(); }
    [[nodiscard]] GlobalId id(std::size_t i) const noexcept { return sides[i].id; }
    [[nodiscard]] CellType type(std::size_t i) const noexcept { return sides[i].type; }
    [[nodiscard]] Rank owner(std::size_t i) const noexcept { return sides[i].owner; }
    [[nodiscard]] std::span<const LocalId> nodes_of(std::size_t i) const {
      return std::span(nodes).subspan(sides[i].first_node, sides[i].n_nodes);
    }
  };

  // check_options.cpp
  /// Collective. @throws AgreedError{usage} for ghosts that cannot be
  void check_options(Dim cell_dim);
  // choose_ghosts.cpp
  /// Find out which own cells may be ghosts elsewhere. Local. @pre own cells and their sets are known
  /// @throws AgreedError{usage} for a set that does not exist
  void choose_ghosts(std::span<const SetInfo> infos);
  // add_ghosts.cpp
  void add_ghosts();
  // number.cpp
  /// Give the vertices of own cells places. Local. @param[in] nodes  of all own cells, cell after cell
  void index_vertices(std::span<const GlobalId> nodes);
  /// The same in place: `cells().nodes` holds their global ids as numbers, which fit there.
  void index_vertices();
  /// The same for vertices that are known. @param[in] ids  ascending, without repetition
  void index_known(std::span<const GlobalId> ids, std::size_t n_nodes);
  void number_vertices();
  void number_cells();
  // place_sides.cpp
  /// Add the sides of ghosts, if they are wanted, and bring all into the local order. @param held  with sharers
  void place_sides(Dim dim, HeldSides held);
  /// Give a side sharers and the owner that is drawn among them. @param ranks  ascending, at least two
  void set_sharers(HeldSides::Side& side, Dim dim, std::span<const Rank> ranks);
  void fill_sets(std::span<const SetInfo> infos);

  /// The sharer that owns an entity, the same on all of them.
  [[nodiscard]] static Rank drawn_owner(Dim dim, GlobalId id, std::span<const Rank> sharers);
  /// Local id of a vertex that this rank knows, or no_local_id. @pre vertices are numbered
  [[nodiscard]] LocalId local_vertex(GlobalId id) const {
    const std::int32_t place = index_.find(id);
    return place < 0 ? no_local_id : vertex_at_[place];
  }
  /// Capacity for n own items with ghosts behind, so that ghosts need no reallocation. Untouched until they come.
  [[nodiscard]] std::size_t with_room(std::size_t n) const noexcept {
    return options_.ghost_layers > 0 ? n + n / 4 : n;
  }
  [[nodiscard]] EntityTable& table(Dim dim) { return out_.entities[index(dim)]; }
  [[nodiscard]] EntityTable& cells() { return table(out_.cell_dim); }
  [[nodiscard]] std::vector<detail::SetRun>& cell_sets() { return set_runs_[index(out_.cell_dim)]; }

  mpi::Context& context_;
  BuildOptions options_;
  Storage& out_;
  /// Memberships of what this rank has, as runs of places; for listed entities of local ids.
  std::array<std::vector<detail::SetRun>, 4> set_runs_;

  detail::IdIndex index_;   // of vertices
  std::size_t n_used_ = 0;  // vertices of own cells
  std::vector<double> coordinates_;
  std::vector<Rank> vertex_owners_;
  std::vector<std::int32_t> sharers_at_;  // by place: number of the set of ranks whose cells use it, -1 for one rank
  std::size_t n_own_cells_ = 0;
  std::vector<LocalId> cell_at_;                // local id by place
  std::vector<LocalId> vertex_at_;              // local id by place
  std::optional<exchange::Neighborhood> hood_;  // of ranks that share vertices, from add_ghosts on

 private:
  /// Own cells to send to each rank in one layer.
  using Going = PlacesByRank;
  /// @param[in] own  places of own cells, ascending
  /// @param[in] reached  for each vertex place the number of the set of ranks that reach it, or -1
  template <class Cells>
  [[nodiscard]] Going cells_at_vertices(const Cells& own, std::span<const std::int32_t> reached, const RankSets& sets);
  /// Tell the users of new vertices that this rank reaches them. @return by place, the set of ranks that reach it
  std::vector<std::int32_t> announce_vertices(std::size_t first_new, RankSets& sets);
  /// The same by sides of the bridge's dimension. @param first_new  first of the cells whose sides are reached
  [[nodiscard]] Going cells_at_sides(std::size_t first_new);
  /// The other ranks that may have a cell at all of some vertices.
  void ranks_around(std::span<const LocalId> vertices, std::vector<Rank>& ranks) const;
  /// Note that an own cell goes to those readers that do not have it yet. @param readers  ascending
  bool note_readers(std::int32_t cell, std::span<const Rank> readers, Going& going);
  void send_cells(const Going& going);
  void unpack_ghosts(Rank from, std::span<const std::byte> message);
  void add_ghost_sides(HeldSides& held);
  /// Add to each set the members of those that it contains.
  void add_contained(std::span<const SetInfo> infos);

  /// Own cells that may be ghosts elsewhere, by place; empty: all may.
  std::vector<bool> may_leave_;
  std::vector<Rank> ghost_ranks_;  // ascending; empty: all ranks
  std::vector<Rank> ghost_owners_;
  PlacesByRank sent_;                          // own cells that are ghosts elsewhere, ascending
  std::vector<std::int32_t> interface_cells_;  // own cells with vertices that others share, from add_ghosts on
  std::vector<bool> touches_copy_;             // by place, of own cells
};

}  // namespace barrio::mesh
