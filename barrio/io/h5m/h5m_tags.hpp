#pragma once

#include <string>
#include <vector>

#include "barrio/files/h5m_file.hpp"
#include "barrio/io/h5m/h5m_ids.hpp"
#include "barrio/io/read.hpp"

namespace barrio::io::detail {

/// A tag of a file, and the location of its values.
struct TagPlan {
  mesh::TagInfo info;
  std::string path;  ///< its name in the file, escaped
  std::int64_t n_sparse = 0;
  std::vector<std::string> dense_on;
};

/// Find the tags of a file, except those that `MeshTables` holds in another form: the partition, meanings of sets.
/// Local, on a file open on this process alone.
std::vector<TagPlan> look_at_tags(hid_t file, const files::H5mCatalog& catalog, const TableOptions& options);
void share(mpi::Context& context, std::vector<TagPlan>& plans);

/// Read the values of tags into `tables.tags` and `tables.part_sets`. Collective.
/// @param[in] place_of_set  index in `tables.sets` of each set of the file, -1 if it is not there
/// @param[in] part_of_set  the part that a set of the file is; -1 if it is no part, or is in `tables.sets` too
void read_tags(mpi::Context& context, files::Place file, const files::H5mCatalog& catalog,
               const std::vector<TagPlan>& plans, const IdSpace& ids, const std::vector<std::int32_t>& place_of_set,
               const std::vector<std::int32_t>& part_of_set, mesh::MeshTables& tables);

/// Ids in a file that barrio writes: parts are its first sets.
struct WrittenIds {
  std::int64_t first_vertex = 1;
  std::vector<std::int64_t> first_of_block;
  std::int64_t first_part = 1;
  std::int64_t first_set = 1;

  WrittenIds(const files::H5mFile& file, const mesh::MeshTables& tables);
  [[nodiscard]] std::int64_t first_of(std::int32_t block) const {
    return block < 0 ? first_vertex : first_of_block[block];
  }
  /// Return the id of a row of a dimension; 0 if there is no such row.
  [[nodiscard]] std::int64_t of(const mesh::MeshTables& tables, mesh::Dim dim, std::int64_t row) const;
};

/// Write a tag with its values. Collective. The file does not depend on the rank count.
/// @param repeats_rows  the values are rows, from 1: says so in the file
void write_tag(mpi::Context& context, files::H5mFile& file, const mesh::MeshTables& tables, const WrittenIds& ids,
               const mesh::TagTable& tag, bool repeats_rows = false);

}  // namespace barrio::io::detail
