#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "barrio/mesh/assembly/numbered.hpp"

namespace barrio::mesh::detail {

/// Listed entities of one dimension, before they are in the local order. Vertices are local ids.
struct HeldSides {
  struct Side {
    GlobalId id;
    CellType type;
    std::int32_t n_nodes;
    std::size_t first_node;
    Rank owner;
    std::int32_t sharer_set;  // -1: used by this rank alone, or a ghost
  };
  std::vector<Side> sides;
  std::vector<LocalId> nodes;
  std::vector<SetRun> sets;  ///< by place in `sides`
  RankSets rank_sets;        ///< of sharers

  void add(GlobalId id, CellType type, std::span<const LocalId> of_side, Rank owner);
  /// Give a side its sharers, and the owner drawn among them.
  /// @param ranks  ascending, at least two
  void set_sharers(std::size_t side, Dim dim, std::span<const Rank> ranks);
  [[nodiscard]] std::size_t size() const noexcept { return sides.size(); }
  [[nodiscard]] GlobalId id(std::size_t i) const noexcept { return sides[i].id; }
  [[nodiscard]] CellType type(std::size_t i) const noexcept { return sides[i].type; }
  [[nodiscard]] Rank owner(std::size_t i) const noexcept { return sides[i].owner; }
  [[nodiscard]] std::span<const LocalId> nodes_of(std::size_t i) const {
    return std::span(nodes).subspan(sides[i].first_node, sides[i].n_nodes);
  }
};

/// Listed entities of one dimension in the local order.
struct PlacedSides {
  EntityTable table;
  std::vector<SetRun> sets;  ///< of local ids
  std::shared_ptr<const exchange::HaloPlan> halo;
};

/// Add the sides of ghosts, if wanted, and bring all sides into the local order. Collective: a round or two.
/// @param held  with sharers; consumed
/// @param shape  of the table, the same on every rank
PlacedSides place_sides(mpi::Context& context, const BuildOptions& options, HeldSides&& held, EntityTable shape,
                        const Numbered& numbered, Ghosts& ghosts);

/// Make sets with their members, including those of contained sets. Local; sorts memberships.
/// @param sides  by dimension
std::vector<MeshSet> filled_sets(std::span<const SetInfo> infos, Numbered& numbered, std::array<PlacedSides, 4>& sides);

}  // namespace barrio::mesh::detail
