#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// A vertex on the way from the rank that read it to the rank whose slab holds its row.
struct TaggedVertex {
  std::int64_t tag;
  std::array<double, 3> x;
};

/// Row of each vertex tag: rows ascend with tags, which may have gaps.
class VertexRows {
 public:
  /// Sort vertices by tag over all ranks and fill `vertices` and `coordinates` of tables. Collective. The log says if
  /// tags have gaps.
  /// @throws AgreedError{bad_input} naming `path` if a tag appears twice
  VertexRows(mpi::Context& context, const std::string& path, std::vector<TaggedVertex> mine, std::int64_t max_tag,
             mesh::MeshTables& tables);

  /// Replace tags by rows, in place. Collective. @throws AgreedError{bad_input} for a tag without a node
  void translate(const std::string& path, std::vector<GlobalId>& tags) const;

 private:
  mpi::Context& context_;
  Slabs homes_;
  std::vector<TaggedVertex> held_;
  std::int64_t first_row_ = 0;
};

}  // namespace barrio::io::detail
