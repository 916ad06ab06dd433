#pragma once

/// @file Writing .h5m (MOAB) files from arrays.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/files/h5m.hpp"
#include "barrio/files/writer.hpp"

namespace barrio::files {

/// Sizes of the tables of a .h5m file to write, the same on all ranks.
struct H5mTables {
  /// Size of one table of elements.
  struct Elements {
    std::string type;            ///< name in the format: "Tet", "Hex", "Polygon", "Polyhedron", ...
    int n_nodes = 0;             ///< per element; 0 if it varies
    std::int64_t n = 0;          ///< number of elements
    std::int64_t n_entries = 0;  ///< if n_nodes varies: total number of nodes (of polyhedra: faces)
    bool has_short_ids = false;  ///< ids are written in 4 bytes, as 32-bit programs do; all must be below 2^31
  };
  std::int64_t n_vertices = 0;          ///< of all ranks together
  std::vector<Elements> elements = {};  ///< in the order of ids
  std::int64_t n_sets = 0;              ///< of all ranks together; 0: the list of sets is empty
};

/// Type of the values of a tag.
struct H5mValues {
  /// Type of one number of a value.
  enum class Of : std::uint8_t {
    int32,    ///< 4 bytes, signed
    int64,    ///< 8 bytes, signed
    float64,  ///< double
    id,       ///< id of an entity or set of the file, 8 bytes
    opaque,   ///< bytes without a type
    bits,     ///< up to 8 bits, in one byte
  };
  Of of = Of::int32;  ///< type of each number
  int n = 1;          ///< number of numbers, bytes of an opaque value, or bits (up to 8)
  /// Return the size of a value, or of one of its numbers if lengths vary.
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// A tag to write.
struct H5mNewTag {
  /// Storage that a program which reads the file may choose; numbers as in the file.
  enum class Storage : std::uint8_t {
    bit,     ///< bits, for all entities
    sparse,  ///< a list, for some entities
    dense,   ///< an array, for all entities
    mesh,    ///< one value, of the mesh as a whole
  };
  std::string name;                               ///< any bytes
  H5mValues values = {};                          ///< `n` is 1 if lengths vary, unless opaque
  Storage storage = Storage::sparse;              ///< hint to readers; it does not restrict how values are written
  bool is_variable = false;                       ///< lengths vary
  std::span<const std::byte> default_value = {};  ///< may be empty
  std::span<const std::byte> mesh_value = {};     ///< value of the mesh as a whole; may be empty
  bool repeats_rows = false;                      ///< values are rows, counted from 1: readers may do without them
};

/// A writer of a .h5m file from arrays, which need not fit into memory. It knows the layout: names, ids, lists of sets,
/// tags. Ids count from 1 without holes: first vertices, then the tables of elements in the given order, then sets.
///
/// All functions except `put_...` are collective, with the same arguments on every rank. The functions `put_...` are
/// local: any rank puts any rows, any number of times, and all ranks together put each row of a table once. Faults are
/// thrown as by FileWriter::put_rows. The file appears under its name when it is complete.
class H5mFile {
 public:
  static constexpr std::int32_t vertices = -1;  ///< the table of vertices; other tables are numbered as in `elements`

  /// Make a file. @param more_bytes  approximate size of tags and contents of sets
  /// @throws AgreedError{failed} as FileWriter; {usage} for a type of elements that the format does not have
  H5mFile(mpi::Context& context, const std::string& path, H5mTables tables, std::uint64_t more_bytes = 0);

  /// Return the id of the first row of a table, and of the first set. Local. @throws Error{usage} if there is no such
  /// table
  [[nodiscard]] std::int64_t first_id(std::int32_t table) const;
  /// Return the id of the first set: it follows those of vertices and elements. Local.
  [[nodiscard]] std::int64_t first_set() const noexcept { return first_set_; }

  /// Put the coordinates of vertices. @param x  shape (vertices, 3)
  void put_vertices(std::int64_t first, std::span<const double> x) { file_.put_rows(coordinates_, first, x); }
  /// Put elements with `n_nodes` nodes each. @param ids  of vertices, for polyhedra of faces
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ids);
  /// Put elements of a table with short ids.
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int32_t> ids);
  /// Put elements whose number of nodes varies. @param first_entry  place of their first node among the nodes of all
  /// @param ends  of each element: one past the place of its last node among the nodes of all
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ends,
                    std::int64_t first_entry, std::span<const std::int64_t> ids);

  /// A tag of the file.
  class Tag {
    friend class H5mFile;
    std::string path_;
    Handle type_;
    bool is_variable_ = false;
  };
  /// Make a tag. Its values are put into dense tables with a value in every row, or into lists of ids and values.
  [[nodiscard]] Tag make_tag(const H5mNewTag& tag);
  /// Allocate a value for every row of a table, to be put with `put_values`. @pre lengths do not vary
  [[nodiscard]] FileWriter::Rows make_dense(const Tag& tag, std::int32_t table);
  /// Rows of a list of ids and their values.
  struct Sparse {
    FileWriter::Rows ids;     ///< of the entities that have a value
    FileWriter::Rows lasts;   ///< made only if lengths vary
    FileWriter::Rows values;  ///< in the order of `ids`
  };
  /// Allocate values for some ids. @param n_values  if lengths vary: total number of numbers
  [[nodiscard]] Sparse make_sparse(const Tag& tag, std::int64_t n_ids, std::int64_t n_values = 0);
  /// Put the ids of entities that have a value.
  void put_ids(const Sparse& rows, std::int64_t first, std::span<const std::int64_t> ids) {
    file_.put_rows(rows.ids, first, ids);
  }
  /// Put the ends of values, if lengths vary: one past the place of each value's last number among all numbers.
  void put_ends(const Sparse& rows, std::int64_t first, std::span<const std::int64_t> ends) {
    put_lasts(rows.lasts, first, ends);
  }
  /// Put values. @param count  number of values or, if lengths vary, of numbers
  void put_values(const FileWriter::Rows& rows, std::int64_t first, std::int64_t count,
                  std::span<const std::byte> values) {
    file_.put_rows(rows, first, count, values.data());
  }

  /// Write the list of sets with children and parents, and allocate their contents. Call it once if there are sets;
  /// O(sets) on each rank. @throws AgreedError{usage} if the number of sets differs from H5mTables::n_sets
  void make_sets(const H5mSetList& sets);
  /// Put contents of sets, in the form given by their flags: ids, or pairs of first id and count.
  void put_contents(std::int64_t first, std::span<const std::int64_t> words) {
    file_.put_rows(contents_, first, words);
  }

  /// Complete the file and rename it to its final name. @throws as FileWriter
  void close();

 private:
  struct Elements {
    FileWriter::Rows connectivity;
    FileWriter::Rows lasts;  // made only if the number of nodes varies
    std::int64_t first_id = 0;
  };
  void make_elements(Handle& types, std::size_t table);
  [[nodiscard]] std::string path_of(std::int32_t table) const;
  /// Find a table. @throws Error{usage} if there is none
  [[nodiscard]] const Elements& find(std::int32_t table) const;
  void put_lasts(const FileWriter::Rows& rows, std::int64_t first, std::span<const std::int64_t> ends);

  H5mTables tables_;
  FileWriter file_;
  FileWriter::Rows coordinates_;
  FileWriter::Rows contents_;
  std::vector<Elements> elements_;
  std::int64_t first_set_ = 1;
  bool has_list_of_sets_ = false;
};

/// Convert the name of a tag to its spelling in paths of .h5m files: slashes, backslashes and bytes that are not
/// printable ASCII become a backslash and two hex digits.
std::string h5m_escaped(const std::string& name);
/// Convert the spelling in paths back to the name of a tag.
std::string h5m_unescaped(const std::string& path);

}  // namespace barrio::files
