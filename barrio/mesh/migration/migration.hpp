#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/exchange/neighborhood.hpp"
#include "barrio/mesh/assembly/selection.hpp"
#include "barrio/mesh/assembly/storage.hpp"
#include "barrio/mesh/local_mesh.hpp"
#include "barrio/mesh/migration/columns.hpp"
#include "barrio/mesh/migration/users.hpp"
#include "barrio/mesh/tables/id_index.hpp"

namespace barrio::mesh {

/// Takes a mesh apart with its cells on other ranks: vertices, listed sides, sets, tags and fields follow them. Each
/// step is collective.
///
/// If only one rank has an entity, it knows the future users and sends them along. If several ranks have it, each of
/// them tells the owner where its cells went, unless they stay, and the owner tells the new users. Two rounds suffice.
/// The first one carries vertices, sides and the reports to owners, the second one cells and the owners' answers. At
/// most about half of the moving data is in messages at a time.
class MeshMigration {
 public:
  /// Prepare a migration.
  /// @param from  taken apart in `run`; copies of its fields are up to date
  /// @param[in] to  rank of each owned cell; may lie in the mesh
  /// @param termination  of rounds that begin with the old neighbours
  MeshMigration(Mesh::Storage& from, std::span<const Rank> to, exchange::Termination termination);
  [[nodiscard]] LocalMesh run();

 private:
  /// Entities that go to one rank.
  struct Going {
    Rank to;
    detail::Selections chosen;
  };
  /// Entities of one dimension that are shared or arrive: the formerly shared ones first.
  struct Known {
    detail::IdIndex ids;
    std::vector<std::int32_t> places;  // by number: in the local mesh, or -1
    // Of those that the old mesh shares:
    std::vector<Rank> owners;
    std::vector<std::int32_t> former;  // number of the former sharers in former_sets
    RankSets former_sets;
    std::vector<std::int32_t> users;  // number in users_ of the set of new users by this rank's cells
    std::vector<bool> is_shared;      // by local id
    std::vector<std::int32_t> moved;  // numbers of those with users here other than this rank alone, by owner
    /// A former sharer's report: its cells go to a set of ranks in `heard`.
    struct Told {
      std::int32_t number;
      Rank from;
      std::int32_t set;
    };
    std::vector<Told> told;
    RankSets heard;
  };

  /// An owner's answer to a user of an entity: the set of its new sharers.
  struct Answer {
    Rank to;
    GlobalId id;
    std::int32_t set;
  };
  /// Answers by dimension, then by ascending rank.
  struct Answers {
    std::array<std::vector<Answer>, 4> all;
    std::array<RankSets, 4> sets;
  };

  // migrate.cpp
  void plan();
  /// Find the destinations of entities once their users are known.
  /// @param table  of vertices or sides
  template <class Table>
  void select(Dim dim, const Table& table);
  void keep(Dim dim);
  /// Set the sharers of kept entities to those that this rank knows.
  void keep_sharers(Dim dim, std::vector<std::int32_t>& sharers);
  [[nodiscard]] std::vector<std::int32_t>& sharers(Dim dim) {
    return dim == Dim::vertex ? local_.vertex_sharers : local_.entities[index(dim)].sharers;
  }
  void set_sharers(Dim dim, std::int32_t place, std::span<const Rank> ranks) {
    sharers(dim)[place] = ranks.size() > 1 ? local_.rank_sets.add(ranks) : -1;
  }
  /// Find the new sharers of the shared entities that this rank owned.
  [[nodiscard]] Answers find_sharers();
  [[nodiscard]] bool has_sides(Dim dim) const { return dim > Dim::vertex && dim < cell_dim_ && is_listed_[index(dim)]; }
  /// Tell whether entities of a dimension can be shared.
  [[nodiscard]] bool is_shared(Dim dim) const { return dim == Dim::vertex || has_sides(dim); }

  // migrate_send.cpp
  void send_shared(exchange::ByteRound& round) const;
  void send_cells(exchange::ByteRound& round, const Answers& answers) const;
  void tell_owner(detail::ColumnWriter& out, Dim dim, Rank owner) const;
  void send_vertices(detail::ColumnWriter& out, const detail::Selection& going) const;
  void send_entities(detail::ColumnWriter& out, Dim dim, const detail::Selection& going,
                     std::span<const std::int32_t> place_in_message) const;
  void send_users(detail::ColumnWriter& out, Dim dim, const detail::Selection& going) const;
  void send_values(detail::ColumnWriter& out, Dim dim, const detail::Selection& going) const;

  // migrate_take.cpp
  void take_shared(exchange::ByteRound& round);
  void take_cells(exchange::ByteRound& round);
  void hear_sharer(Rank from, detail::ColumnReader& in, Dim dim);
  void hear_owner(detail::ColumnReader& in, Dim dim);
  /// Take vertices from a message.
  /// @return their places in the local mesh
  [[nodiscard]] std::vector<LocalId> take_vertices(detail::ColumnReader& in);
  void take_entities(detail::ColumnReader& in, Dim dim, std::span<const LocalId> vertices);
  /// Choose the entities that this rank does not have yet, and give them places.
  [[nodiscard]] detail::Selection choose_new(Dim dim, std::span<const GlobalId> ids, std::vector<LocalId>& places);
  void take_users(detail::ColumnReader& in, Dim dim, const detail::Selection& fresh);
  void take_values(detail::ColumnReader& in, Dim dim, const detail::Selection& fresh, std::size_t first_place);

  Mesh::Storage& old_;
  std::span<const Rank> to_;
  Rank me_;
  Dim cell_dim_;
  std::array<bool, 4> is_listed_{};
  std::array<bool, 4> has_one_type_{};
  exchange::Neighborhood reach_;  // reaches all ranks that get cells, or share entities of these
  std::vector<Going> going_;      // by ascending rank
  detail::Selections kept_;
  std::array<detail::Users, 4> users_;
  std::array<Known, 4> known_;
  LocalMesh local_;
  std::vector<std::int32_t> place_of_vertex_;  // by old local id
  struct Arrived {
    Rank from;
    std::vector<LocalId> vertices;  // by place in its message
  };
  std::vector<Arrived> arrived_;  // by ascending rank
};

}  // namespace barrio::mesh
