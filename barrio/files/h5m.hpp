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
  std::string name;           ///< "Tet4"
  std::string type;           ///< name in the file's own enumeration: "Tet", "Hex", "Polygon", ...
  std::int64_t n = 0;         ///< elements in the table
  std::int64_t n_nodes = 0;   ///< per element; 0 if it varies
  std::int64_t start_id = 0;  ///< id of its first element; the others follow without holes
};

/// One tag of a .h5m file.
struct H5mTag {
  std::string name;                   ///< as in paths of the file; `h5m_unescaped` gives the real one
  std::string type;                   ///< "int", "double[3]", "opaque[32]", "bit[2]", "id", ...
  std::string storage;                ///< "bit", "sparse", "dense", "mesh" or "unknown"
  bool is_variable = false;           ///< lengths of values vary
  std::int64_t n_sparse = 0;          ///< number of entities in the sparse list
  std::vector<std::string> dense_on;  ///< tables with a value in every row: "nodes", "sets", group names
};

/// The tables of a .h5m file, without their contents.
struct H5mCatalog {
  std::int64_t n_vertices = 0;     ///< rows of the table of coordinates
  std::int64_t n_coordinates = 0;  ///< per vertex
  std::int64_t first_vertex = 1;   ///< start_id
  std::vector<H5mGroup> groups;    ///< tables of elements, by ascending start_id
  std::int64_t n_sets = 0;         ///< rows of the list of sets; 0 without a list
  std::int64_t first_set = 0;      ///< start_id
  std::int64_t n_contents = 0;     ///< length of the contents of all sets together: ids, or words of pairs
  std::vector<H5mTag> tags;        ///< ascending by name in the file

  /// Return the row of a set in the list of sets, by its id; nothing if no set has this id.
  [[nodiscard]] std::optional<std::int64_t> row_of_set(std::int64_t id) const noexcept;
};

/// Read the list of tables. Local; works before MPI_Init. The optional `history` is not read: nothing needs it, and
/// HDF5 1.10 trusts the heaps of its variable-length strings, where a single wrong bit crashes the process.
/// @param file  open on this process alone
/// @throws Error{bad_input} if it is HDF5 but not .h5m, or a table lacks a part that the layout requires
H5mCatalog read_h5m_catalog(hid_t file, const std::string& path);

/// Write a catalog as JSON, to send it to other ranks. Local.
Json to_json(const H5mCatalog& catalog);
/// Read what `to_json` wrote. Local. @pre no key is missing
H5mCatalog h5m_catalog_from_json(const Json& json);

/// A value of an integer tag on sets. Sparse and dense storage are merged. Of dense storage, values equal to the tag's
/// default are left out.
struct H5mSetValue {
  std::int64_t set;    ///< row in the list of sets
  std::int64_t value;  ///< widened to 64 bits
};
/// Read an integer tag on sets, ascending by set; empty if there is no such tag. Local, on a file open on this process
/// alone.
std::vector<H5mSetValue> read_h5m_set_tag(hid_t file, const H5mCatalog& catalog, const std::string& name);
/// Read the NAME tag on sets. Local.
std::vector<std::pair<std::int64_t, std::string>> read_h5m_set_names(hid_t file, const H5mCatalog& catalog);

/// Columns of the set table.
struct H5mSetList {
  std::vector<std::int64_t> contents_end;      ///< one past the last entry of each set in `contents`
  std::vector<std::int64_t> flags;             ///< of each set: sum of the constants below
  std::vector<std::int64_t> children_end;      ///< as contents_end, in `children`
  std::vector<std::int64_t> parents_end;       ///< as contents_end, in `parents`
  std::vector<std::int64_t> children;          ///< ids
  std::vector<std::int64_t> parents;           ///< ids
  static constexpr std::int64_t tracking = 1;  ///< flag: members keep track of the sets they are in
  static constexpr std::int64_t unique = 2;    ///< flag: a true set
  static constexpr std::int64_t ordered = 4;   ///< flag: a list
  static constexpr std::int64_t ranged = 8;    ///< flag: contents are pairs (first id, count)
};
/// Read the set table. Local, on a file open on this process alone. Memory O(sets).
/// @throws Error{bad_input} if the columns do not ascend or point outside their lists
H5mSetList read_h5m_set_list(hid_t file, const H5mCatalog& catalog, const std::string& path);

}  // namespace barrio::files
