#pragma once

#include <string>
#include <vector>

#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/exodus/exodus_file.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// An Exodus file that all ranks read together, and what they know of it.
struct ExodusSource {
  mpi::Context& context;
  const std::string& path;
  files::NetcdfFile file;
  ExodusCatalog catalog;
  std::vector<std::size_t> table_of = {};  ///< place in MeshTables::blocks, of each block of the file

  [[nodiscard]] mesh::CellBlock& table(mesh::MeshTables& tables, std::size_t b) const {
    return tables.blocks[table_of[b]];
  }
  [[nodiscard]] const mesh::CellBlock& table(const mesh::MeshTables& tables, std::size_t b) const {
    return tables.blocks[table_of[b]];
  }
  /// This rank's rows of a block of the file: those in its slab of the table.
  [[nodiscard]] files::Rows rows_of(const mesh::MeshTables& tables, std::size_t b) const {
    return overlap(slab_of(table(tables, b).rows, context.rank()), catalog.blocks[b].row, catalog.blocks[b].n);
  }
};

/// Read variables of the last time step, numbers of nodes and elements that are not their places, and properties of
/// sets into `tables.tags`. Collective.
/// @param without  names to leave out; "*" leaves out all
void read_exodus_tags(const ExodusSource& source, const std::vector<std::string>& without, mesh::MeshTables& tables);

}  // namespace barrio::io::detail
