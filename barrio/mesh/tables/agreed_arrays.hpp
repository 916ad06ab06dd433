#pragma once

#include <array>
#include <vector>

#include "barrio/mesh/from_arrays.hpp"

namespace barrio::mesh::detail {

/// Properties of the given arrays that are known on all ranks, by type; vertices are the type `vertex`.
struct AgreedArrays {
  template <class T>
  using ByType = std::array<T, n_cell_types>;

  ByType<std::int64_t> n_rows{};        ///< of all ranks
  ByType<std::int64_t> first_row{};     ///< first row of this rank in its type; for vertices only without ids
  ByType<int> nodes_per_cell{};         ///< 0: varies
  std::vector<TagInfo> tags{};          ///< as given by the ranks that have values
  std::vector<ByType<bool>> tag_has{};  ///< by tag: whether any rank has values
  bool has_ids = false;
  bool has_parts = false;
  int n_parts = 0;
};

/// Check everything that can be checked before any data is sent. Collective.
/// @throws AgreedError as tables_from_arrays
AgreedArrays agree_on_arrays(mpi::Context& context, const MeshArrays& arrays);

/// Count the rows of a type that this rank gives.
std::size_t n_given(const MeshArrays& arrays, CellType type) noexcept;

/// Return the vertices of a cell of this rank.
std::span<const std::int64_t> nodes_of(const MeshArrays::Cells& cells, std::size_t i) noexcept;

}  // namespace barrio::mesh::detail
