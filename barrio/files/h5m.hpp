#pragma once

/// @file Reading the structure of .h5m (MOAB) files: tables, tags and sets.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::files {

/// One element table of a .h5m file.
struct H5mGroup {
  std::string name;  ///< "Tet4"
  std::string type;  ///< name in the file's own enumeration: "Tet", "Hex", "Polygon", ...
  std::int64_t n = 0;
  std::int64_t n_nodes = 0;  ///< per element; 0 if it varies
  std::int64_t start_id = 0;
};

/// One tag of a .h5m file.
struct H5mTag {
  std::string name;
  std::string type;     ///< "int", "double[3]", "opaque[32]", "bit[2]", "id", ...
  std::string storage;  ///< "bit", "sparse", "dense", "mesh" or "unknown"
  bool is_variable = false;
  std::int64_t n_sparse = 0;          ///< number of entities in the sparse list
  std::vector<std::string> dense_on;  ///< tables with a value in every row: "nodes", "sets", group names
};

/// The tables of a .h5m file, without their contents.
struct H5mCatalog {
  std::int64_t n_vertices = 0;
  std::int64_t n_coordinates = 0;  ///< per vertex
  std::int64_t first_vertex = 1;   ///< start_id
  std::vector<H5mGroup> groups;
  std::int64_t n_sets = 0;
  std::int64_t first_set = 0;  ///< start_id
  std::int64_t n_contents = 0;
  std::vector<H5mTag> tags;

  /// Return the row of a set in the list of sets, by its id; nothing if no set has this id.
  [[nodiscard]] std::optional<std::int64_t> row_of_set(std::int64_t id) const noexcept;
};

/// Read the list of tables. Local; works before MPI_Init. The optional `history` is not read: nothing needs it, and
/// HDF5 1.10 trusts the heaps of its variable-length strings, where a single wrong bit crashes the process.
/// @param file  open on this process alone
/// @throws Error{bad_input} if it is HDF5 but not .h5m, or a table lacks a part that the layout requires
H5mCatalog read_h5m_catalog(hid_t file, const std::string& path);

Json to_json(const H5mCatalog& catalog);
H5mCatalog h5m_catalog_from_json(const Json& json);

/// A value of an integer tag on sets. Sparse and dense storage are merged. Of dense storage, values equal to the tag's
/// default are left out.
struct H5mSetValue {
  std::int64_t set;  ///< row in the list of sets
  std::int64_t value;
};
/// Read an integer tag on sets, ascending by set; empty if there is no such tag. Local, on a file open on this process
/// alone.
std::vector<H5mSetValue> read_h5m_set_tag(hid_t file, const H5mCatalog& catalog, const std::string& name);
/// Read the NAME tag on sets. Local.
std::vector<std::pair<std::int64_t, std::string>> read_h5m_set_names(hid_t file, const H5mCatalog& catalog);

/// Columns of the set table.
struct H5mSetList {
  std::vector<std::int64_t> contents_end;  ///< one past the last entry of each set in `contents`
  std::vector<std::int64_t> flags;
  std::vector<std::int64_t> children_end;  ///< as contents_end, in `children`
  std::vector<std::int64_t> parents_end;
  std::vector<std::int64_t> children;  ///< ids
  std::vector<std::int64_t> parents;
  static constexpr std::int64_t tracking = 1;  ///< flag: members keep track of the sets they are in
  static constexpr std::int64_t unique = 2;    ///< flag: a true set
  static constexpr std::int64_t ordered = 4;   ///< flag: a list
  static constexpr std::int64_t ranged = 8;    ///< flag: contents are pairs (first id, count)
};
/// Read the set table. Local, on a file open on this process alone. Memory O(sets).
/// @throws Error{bad_input} if the columns do not ascend or point outside their lists
H5mSetList read_h5m_set_list(hid_t file, const H5mCatalog& catalog, const std::string& path);

}  // namespace barrio::files
