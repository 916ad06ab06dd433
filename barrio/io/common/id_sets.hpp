#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Return the kind of the sets that entities of a dimension name by number: materials of the top dimension, boundaries
/// below it, and sets of vertices.
constexpr mesh::SetKind kind_of_id_set(mesh::Dim dim, mesh::Dim top) noexcept {
  return dim == top                 ? mesh::SetKind::material
         : dim == mesh::Dim::vertex ? mesh::SetKind::dirichlet
                                    : mesh::SetKind::neumann;
}

/// Sets that each cell names by number: collected as runs of rows, finally made equal on every rank.
class IdSets {
 public:
  /// Put a cell or a vertex into a set. Local. @param row  of its dimension; cheap if rows ascend
  void add(mesh::Dim dim, std::int64_t id, std::int64_t row);

  /// Add the sets to the tables, ascending by dimension and id (see `kind_of_id_set`). Collective. @param names  of
  /// sets, by dimension and id; the same on every rank
  /// @return false if there are more than `most` sets or an id does not fit in 32 bits; the tables are then unchanged
  /// Cost: O(log P) messages; memory O(runs + sets)
  bool move_into(mpi::Context& context, mesh::MeshTables& tables,
                 const std::map<std::pair<int, int>, std::string>& names = {});

  static constexpr std::size_t most = 100'000;

 private:
  struct Run {
    mesh::Dim dim;
    std::int64_t id;
    std::int64_t first;
    std::int64_t count;
  };
  std::vector<Run> runs_;
};

}  // namespace barrio::io::detail
