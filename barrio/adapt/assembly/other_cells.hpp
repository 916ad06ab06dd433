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

/// A listed face of a cell that is no tetrahedron.
struct OtherFace {
  std::array<Key, 4> keys{};  ///< around it, from the lowest; the last one none for a triangle
  std::uint16_t face_membership = 0;
  std::array<Rank, 2> ranks{-1, -1};  ///< that have such cells at it
};

/// Cells that are no tetrahedra, beside those that are: they stay as they are, and where they are, while these change.
/// Local.
class OtherCells {
 public:
  /// @param owner  who decides about each local vertex
  /// @param membership_of_cell, membership_of_face  of each local cell and listed face
  void take(const mesh::Mesh& mesh, const Transfer& transfer, std::span<const Rank> owner,
            std::span<const std::uint32_t> membership_of_cell, std::span<const std::uint32_t> membership_of_face);
  [[nodiscard]] bool is_empty() const noexcept { return vertices_.empty(); }

  /// Give their vertices a slot, unless they have one because tetrahedra use them. Once no tetrahedron changes any
  /// more.
  void add_to(Tets& tets);
  /// @return whether such cells use a vertex. @pre `add_to`
  [[nodiscard]] bool is_used(Slot v) const noexcept { return v < std::ssize(place_) && place_[v] >= 0; }
  /// Ranks that have such cells at a vertex of this rank, ascending.
  [[nodiscard]] std::span<const Rank> ranks_at(Slot v) const noexcept {
    return is_used(v) ? ranks_[place_[v]] : std::span<const Rank>();
  }
  /// Ranks that have to hear of vertices of this rank, or that own vertices of its cells; ascending.
  [[nodiscard]] std::span<const Rank> neighbours() const noexcept { return neighbours_; }
  /// Listed faces whose lowest vertex is of this rank, by ascending keys.
  [[nodiscard]] std::span<const OtherFace> faces() const noexcept { return faces_; }
  /// Slot of a vertex. @pre `add_to`, and it is one of such cells
  [[nodiscard]] Slot slot_of(const Key& key) const noexcept;

  /// Cells of this rank.
  [[nodiscard]] std::size_t n_cells() const noexcept { return types_.size(); }
  [[nodiscard]] mesh::CellType type(std::size_t c) const noexcept { return types_[c]; }
  /// Slots. @pre `add_to`
  [[nodiscard]] std::vector<Slot> nodes_of(std::size_t c) const;
  [[nodiscard]] std::uint32_t membership_of(std::size_t c) const noexcept { return memberships_[c]; }
  [[nodiscard]] std::span<const Origin> origins() const noexcept { return origins_; }

 private:
  void take_faces(const mesh::Mesh& mesh, std::span<const Rank> owner,
                  std::span<const std::uint32_t> membership_of_face);

  std::vector<Vertex> vertices_;        // of cells that this rank has, or some vertex of; ascending keys
  std::vector<double> values_;          // of each
  std::vector<Origin> vertex_origins_;  // of each
  Ragged<Rank> ranks_;                  // of each
  std::vector<Slot> slots_;             // of each
  std::vector<std::int32_t> place_;     // of each slot; -1: none
  std::vector<mesh::CellType> types_;
  Ragged<std::int32_t> nodes_;  // of each cell: places of vertices
  std::vector<std::uint32_t> memberships_;
  std::vector<Origin> origins_;
  std::vector<OtherFace> faces_;
  std::vector<Rank> neighbours_;
};

/// Whether a cell is one that `adapt` changes.
[[nodiscard]] inline bool is_tet(const mesh::Mesh& mesh, std::size_t cell) noexcept {
  return mesh.cells().type(cell) == mesh::CellType::tet;
}

}  // namespace barrio::adapt::detail
