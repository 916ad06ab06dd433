#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// Tell whether a name is empty or reserved in .h5m files.
bool is_reserved_tag(std::string_view name);

/// Tags made from the variables, fields or properties of other formats. A name that is reserved in .h5m files, or
/// belongs to a tag of another type, is left out; the log says so once.
class NewTags {
 public:
  /// @param without  names to leave out; "*" leaves out all
  NewTags(mpi::Context& context, mesh::MeshTables& tables, const std::vector<std::string>& without)
      : context_(context), tables_(tables), without_(without) {}

  /// Tell whether a name is not among those to leave out.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// Find the one-component tag of a name and type, or make it. @return null if it is to be left out
  mesh::TagTable* find_or_add(const std::string& name, mesh::TagType type);

  /// Find or make the tag for an array over all cells or all vertices: a tag of that name and kind without values
  /// there, else a new one. A name that is taken gets the suffix "_of_cells" or "_of_points". @return null if it is to
  /// be left out
  mesh::TagTable* find_or_rename(std::string name, mesh::TagType type, int n_components, bool on_cells);

 private:
  mesh::TagTable* find(std::string_view name);
  void leave_out(std::string_view name, std::string_view cause);
  mpi::Context& context_;
  mesh::MeshTables& tables_;
  const std::vector<std::string>& without_;
};

/// Make a column of values on all rows of a block's slab; block -1 means the vertices.
template <class Number>
mesh::TagColumn dense_column(std::int32_t block, const std::vector<Number>& values) {
  mesh::TagColumn column{.block = block};
  const auto bytes = std::as_bytes(std::span(values));
  column.items.bytes.assign(bytes.begin(), bytes.end());
  return column;
}

}  // namespace barrio::io::detail
