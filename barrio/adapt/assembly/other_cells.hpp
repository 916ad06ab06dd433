#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/adapt/assembly/transfer.hpp"
#include "barrio/adapt/kernel/tets.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/base/ragged.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::adapt::detail {

/// Listed face of a cell that is not a tetrahedron.
struct OtherFace {
  std::array<Key, 4> keys{};  ///< around it, from the lowest; the last one is Key{} for a triangle
  std::uint16_t face_membership = 0;
  std::array<Rank, 2> ranks{-1, -1};  ///< that have such cells at it
};

/// Listed edge of such a cell, for each rank that has one at it.
struct OtherEdge {
  std::array<Key, 2> keys{};  ///< ascending
  Rank rank = -1;
  std::uint16_t membership = 0;
  auto operator<=>(const OtherEdge&) const = default;
};

/// Memberships of all local entities of a mesh in sets.
struct MeshMemberships {
  std::span<const std::uint32_t> cells;
  std::span<const std::uint32_t> faces;
  std::span<const std::uint32_t> edges;
};

/// Cells of other types beside the tetrahedra. They stay unchanged and on their rank while tetrahedra change. Local.
class OtherCells {
 public:
  /// Take the cells of a mesh. @param owner  rank that decides about each local vertex
  void take(const mesh::Mesh& mesh, const Transfer& transfer, std::span<const Rank> owner,
            const MeshMemberships& memberships);
  [[nodiscard]] bool is_empty() const noexcept { return vertices_.empty(); }

  /// Give each of their vertices a slot, unless a tetrahedron uses it already. Call after the last change.
  void add_to(Tets& tets);
  /// Tell whether such cells use a vertex. @pre `add_to` was called
  [[nodiscard]] bool is_used(Slot v) const noexcept { return v < std::ssize(place_) && place_[v] >= 0; }
  /// Return the ranks that have such cells at a vertex of this rank, ascending.
  [[nodiscard]] std::span<const Rank> ranks_at(Slot v) const noexcept {
    return is_used(v) ? ranks_[place_[v]] : std::span<const Rank>();
  }
  /// Return the ranks whose cells use vertices of this rank, and those that own vertices of its cells; ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept { return neighbours_; }
  /// Return the listed faces whose lowest vertex is of this rank, by ascending keys.
  [[nodiscard]] std::span<const OtherFace> faces() const noexcept { return faces_; }
  /// Return the listed edges whose lowest vertex is of this rank, ascending.
  [[nodiscard]] std::span<const OtherEdge> edges() const noexcept { return edges_; }
  /// Return the slot of a vertex of such a cell. @pre `add_to` was called
  [[nodiscard]] Slot slot_of(const Key& key) const noexcept;

  /// Return the number of such cells of this rank.
  [[nodiscard]] std::size_t n_cells() const noexcept { return types_.size(); }
  [[nodiscard]] mesh::CellType type(std::size_t c) const noexcept { return types_[c]; }
  /// Return the slots of a cell's vertices. @pre `add_to` was called
  [[nodiscard]] std::vector<Slot> nodes_of(std::size_t c) const;
  [[nodiscard]] std::uint32_t membership_of(std::size_t c) const noexcept { return memberships_[c]; }
  [[nodiscard]] std::span<const Parent> parents() const noexcept { return parents_; }

 private:
  void take_faces(const mesh::Mesh& mesh, std::span<const Rank> owner,
                  std::span<const std::uint32_t> membership_of_face);
  void take_edges(const mesh::Mesh& mesh, std::span<const Rank> owner,
                  std::span<const std::uint32_t> membership_of_edge);

  std::vector<Vertex> vertices_;        // of cells that this rank has, or some vertex of; ascending keys
  std::vector<double> values_;          // of each
  std::vector<Parent> vertex_parents_;  // of each
  Ragged<Rank> ranks_;                  // of each
  std::vector<Slot> slots_;             // of each
  std::vector<std::int32_t> place_;     // of each slot; -1: none
  std::vector<mesh::CellType> types_;
  Ragged<std::int32_t> nodes_;  // of each cell: places of vertices
  std::vector<std::uint32_t> memberships_;
  std::vector<Parent> parents_;
  std::vector<OtherFace> faces_;
  std::vector<OtherEdge> edges_;
  std::vector<Rank> neighbours_;
};

/// Tell whether a cell is a tetrahedron of 4 nodes, which `adapt` changes.
[[nodiscard]] inline bool is_tet(const mesh::EntityTable& cells, std::size_t cell) noexcept {
  return cells.type(cell) == mesh::CellType::tet;
}

}  // namespace barrio::adapt::detail
