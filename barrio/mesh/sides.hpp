#pragma once

/// @file All faces or all edges of a mesh, with global ids, owners and sharers.

#include <memory>
#include <span>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// All faces, or all edges, of a mesh's cells: made on request, gone when destroyed. Move-only.
///
/// A mesh itself holds only the faces and edges that its file lists. This class holds each side of each local cell,
/// ghosts included, once: with a global id, an owner and sharers, and the list of each cell's sides.
///
/// - The order of corners depends on global ids alone: the lowest first, then its lower neighbour. All ranks and all
///   cells therefore see one orientation. Higher-order nodes are left out.
/// - Global ids ascend by lowest corner, then by the others: they do not depend on the rank count.
/// - Sharers are the ranks that own a cell with the side; one of them owns the side, drawn by a hash of its corners.
/// - Local order: interior (all corners owned), fringe, copies grouped by owner; ascending global ids within each.
class Sides {
 public:
  /// Find all sides of the mesh. Collective. The mesh is used during the call only; its context must outlive this
  /// object.
  /// @param dim  Dim::edge or Dim::face, below the dimension of the cells
  /// @throws AgreedError{usage} for another dimension, {bad_input} for faces of polyhedra with more than 32 corners
  /// Cost: O(n_local); four rounds and two halo exchanges with neighbours, one routed exchange of a number per run of
  /// vertices with consecutive ids
  Sides(const Mesh& mesh, Dim dim);

  /// Return the dimension of the sides: Dim::edge or Dim::face.
  [[nodiscard]] Dim dim() const noexcept { return dim_; }
  /// Return the sides by local id, copies included; nodes are local ids of the mesh's vertices, corners only.
  [[nodiscard]] const EntityTable& table() const& noexcept { return table_; }
  /// Refuse a temporary: its table ends with it.
  const EntityTable& table() && = delete;
  /// Return the sides of a local cell, in the order of its topology.
  [[nodiscard]] std::span<const LocalId> of_cell(std::size_t cell) const& noexcept {
    const std::span<const LocalId> all(of_cells_);
    if (offsets_.empty()) return all.subspan(cell * per_cell_, per_cell_);
    const std::size_t first = offsets_[cell];
    return all.subspan(first, offsets_[cell + 1] - first);
  }
  /// Return the side that is each entity of `mesh.entities(dim)`, or no_local_id: shape (mesh.n_local(dim)).
  [[nodiscard]] std::span<const LocalId> of_listed() const& noexcept { return of_listed_; }
  /// Return the plan that brings the copies of values on sides up to date.
  [[nodiscard]] std::shared_ptr<const exchange::HaloPlan> halo_plan() const noexcept { return halo_; }

  /// Compute a hash of ids and corners of the owned sides. Collective. Does not depend on the rank count.
  /// @param mesh  the one that this was made from
  [[nodiscard]] std::uint64_t checksum(const Mesh& mesh) const;
  /// Return the bytes of the sides on this rank, halo plan included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;

 private:
  template <int n_corners>
  class Builder;
  mpi::Context* context_;
  Dim dim_;
  EntityTable table_;
  std::vector<LocalId> of_cells_;
  std::vector<std::int32_t> offsets_;  // of cells in of_cells_; empty if all have per_cell_
  std::size_t per_cell_ = 0;
  std::vector<LocalId> of_listed_;
  std::shared_ptr<const exchange::HaloPlan> halo_;
};

}  // namespace barrio::mesh
