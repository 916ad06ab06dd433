#pragma once

#include <string>
#include <vector>

#include "barrio/io/common/file_rows.hpp"
#include "barrio/io/exodus/exodus_file.hpp"
#include "barrio/mesh/tables.hpp"

namespace barrio::io::detail {

/// An Exodus file opened by all ranks, and its catalog.
struct ExodusSource {
  mpi::Context& context;
  const std::string& path;
  files::NetcdfFile file;
  ExodusCatalog catalog;
  std::int64_t step = -1;                   ///< to read, from 0; -1: there is none
  std::vector<std::int32_t> table_of = {};  ///< index in MeshTables::blocks of each block of the file

  [[nodiscard]] mesh::CellBlock& table(mesh::MeshTables& tables, std::size_t b) const {
    return tables.blocks[table_of[b]];
  }
  [[nodiscard]] const mesh::CellBlock& table(const mesh::MeshTables& tables, std::size_t b) const {
    return tables.blocks[table_of[b]];
  }
  /// Return this rank's rows of a block of the file: those in its slab of the table.
  [[nodiscard]] files::Rows rows_of(const mesh::MeshTables& tables, std::size_t b) const {
    return overlap(slab_of(table(tables, b).rows, context.rank()), catalog.blocks[b].row, catalog.blocks[b].n);
  }
};

/// Read into `tables.tags` the attributes of elements, the variables of the chosen time step, the numbers of nodes and
/// elements that differ from their positions, and the properties of sets. Collective.
/// @param without  names to leave out; "*" leaves out all
void read_exodus_tags(const ExodusSource& source, const std::vector<std::string>& without, mesh::MeshTables& tables);

}  // namespace barrio::io::detail
