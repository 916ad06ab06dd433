#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Whether a name means something else in .h5m files, or is empty.
bool is_reserved_tag(std::string_view name);

/// Makes tags from what other formats call variables, fields or properties. A name that means something else in .h5m
/// files, or is that of a tag of another type, is left out; the log says so once.
class NewTags {
 public:
  /// @param without  names to leave out; "*" leaves out all
  NewTags(mpi::Context& context, mesh::MeshTables& tables, const std::vector<std::string>& without)
      : context_(context), tables_(tables), without_(without) {}

  /// Whether a name is not among those to leave out.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// The tag of a name and type with one number, made if there is none. @return null if it is to be left out
  mesh::TagTable* find_or_add(const std::string& name, mesh::TagType type);

  /// The tag for an array of numbers on all cells or all vertices: one of the name and kind that has none there yet,
  /// else a new one, which adds "_of_cells" or "_of_points" to a name that is taken. @return null if it is to be left
  /// out
  mesh::TagTable* find_or_rename(std::string name, mesh::TagType type, int n_components, bool on_cells);

 private:
  mesh::TagTable* find(std::string_view name);
  void leave_out(std::string_view name, std::string_view cause);
  mpi::Context& context_;
  mesh::MeshTables& tables_;
  const std::vector<std::string>& without_;
};

/// Values on all rows of a block's slab, or of the vertices' with block -1.
template <class Number>
mesh::TagColumn dense_column(std::int32_t block, const std::vector<Number>& values) {
  mesh::TagColumn column{.block = block};
  const auto bytes = std::as_bytes(std::span(values));
  column.items.bytes.assign(bytes.begin(), bytes.end());
  return column;
}

}  // namespace barrio::io::detail
