#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::test {

/// All contents of tables, on every rank, in plain comparable containers. Written from the definition of MeshTables.
struct WholeFile {
  using Cell = std::pair<mesh::CellType, std::vector<std::int64_t>>;
  std::vector<double> coordinates;
  std::vector<Cell> cells;          ///< block after block
  std::vector<std::int32_t> parts;  ///< of cells of the top dimension
  std::vector<std::tuple<mesh::SetKind, std::int32_t, std::string>> sets;
  std::vector<std::set<std::pair<int, std::int64_t>>> members;  ///< of each set: (dimension, row)

  /// Gather the tables. Collective.
  WholeFile(mpi::Context& context, const mesh::MeshTables& tables);
  bool operator==(const WholeFile&) const = default;
};

/// Count the members of a set, by dimension, over all ranks of the mesh. Collective.
std::array<std::int64_t, 4> count_owned(const mesh::Mesh& mesh, const mesh::MeshSet& set);

/// Compare a distributed mesh with one ghost layer with the serial oracle. Collective.
void expect_equals_oracle(mpi::Context& context, const mesh::MeshTables& tables);

}  // namespace barrio::test
