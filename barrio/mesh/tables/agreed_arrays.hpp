#pragma once

#include <array>
#include <vector>

#include "barrio/mesh/from_arrays.hpp"

namespace barrio::mesh::detail {

/// What all ranks know of the arrays that they give together, by type; vertices are the type `vertex`.
struct AgreedArrays {
  template <class T>
  using ByType = std::array<T, n_cell_types>;

  ByType<std::int64_t> n_rows{};        ///< of all ranks
  ByType<std::int64_t> first_row{};     ///< of this rank among those of its type; of vertices without ids
  ByType<int> nodes_per_cell{};         ///< 0: varies
  std::vector<TagInfo> tags{};          ///< of ranks that have values
  std::vector<ByType<bool>> tag_has{};  ///< by tag: whether there are values
  bool has_ids = false;
  bool has_parts = false;
  int n_parts = 0;
};

/// Check all that can be checked before anything is sent. Collective.
/// @throws AgreedError as tables_from_arrays
AgreedArrays agree_on_arrays(mpi::Context& context, const MeshArrays& arrays);

/// Number of rows that this rank gives of a type.
std::size_t n_given(const MeshArrays& arrays, CellType type) noexcept;

/// Vertices of a cell of this rank.
std::span<const std::int64_t> nodes_of(const MeshArrays::Cells& cells, std::size_t i) noexcept;

}  // namespace barrio::mesh::detail
