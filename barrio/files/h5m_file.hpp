#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "barrio/files/h5m.hpp"
#include "barrio/files/writer.hpp"

namespace barrio::files {

/// Sizes of the tables of a .h5m file that is to be written, alike on all ranks.
struct H5mTables {
  struct Elements {
    std::string type;            ///< as the format calls it: "Tet", "Hex", "Polygon", "Polyhedron", ...
    int n_nodes = 0;             ///< per element; 0 where it varies
    std::int64_t n = 0;          ///< elements
    std::int64_t n_entries = 0;  ///< where it varies: nodes (of polyhedra: faces) of all
    bool has_short_ids = false;  ///< ids are written in 4 bytes, as 32-bit programs do: all have to be below 2^31
  };
  std::int64_t n_vertices = 0;
  std::vector<Elements> elements = {};
  std::int64_t n_sets = 0;
};

/// What the values of a tag are.
struct H5mValues {
  enum class Of : std::uint8_t { int32, int64, float64, id, opaque, bits };
  Of of = Of::int32;
  int n = 1;  ///< numbers, bytes of opaque values, or bits (up to 8)
  /// Of a value, or of one of its numbers if lengths vary.
  [[nodiscard]] std::size_t bytes() const noexcept;
};

/// A tag to write.
struct H5mNewTag {
  enum class Storage : std::uint8_t { bit, sparse, dense, mesh };
  std::string name;                               ///< of any bytes
  H5mValues values = {};                          ///< `n` is 1 where lengths vary, unless opaque
  Storage storage = Storage::sparse;              ///< how programs prefer to keep it, whatever is done here
  bool is_variable = false;                       ///< lengths vary
  std::span<const std::byte> default_value = {};  ///< may be empty
  std::span<const std::byte> mesh_value = {};     ///< of the mesh as a whole; may be empty
};

/// Write a .h5m file of arrays, which need not fit into memory. The layout is here: names, ids, lists of sets, tags.
/// Ids count from 1 without holes: vertices, the tables of elements as they are listed, sets.
///
/// All verbs but `put_...` are collective, and what they are given is the same on every rank. The verbs `put_...` are
/// local: any rank puts any rows, any number of times, and all ranks together put each row of a table once. Faults are
/// thrown as by FileWriter::put_rows, and the file appears under its name when it is complete.
class H5mFile {
 public:
  static constexpr std::int32_t vertices = -1;  ///< the table of vertices; others go by their place in `elements`

  /// @param more_bytes  about how large tags and contents of sets will be
  /// @throws AgreedError{failed} as FileWriter; {usage} for a type of elements that the format does not have
  H5mFile(mpi::Context& context, const std::string& path, H5mTables tables, std::uint64_t more_bytes = 0);

  /// Id of the first row of a table, and of the first set. Local. @throws Error{usage} for a table that is not there
  [[nodiscard]] std::int64_t first_id(std::int32_t table) const;
  [[nodiscard]] std::int64_t first_set() const noexcept { return first_set_; }

  /// @param x  shape (vertices, 3)
  void put_vertices(std::int64_t first, std::span<const double> x) { file_.put_rows(coordinates_, first, x); }
  /// Put elements that have `n_nodes` each. @param ids  of vertices, of polyhedra: of faces
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ids);
  /// The same where ids are short.
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int32_t> ids);
  /// Put elements whose number of nodes varies. @param first_entry  of these among the nodes of all
  /// @param ends  of each element, among the nodes of all: one past its last
  void put_elements(std::int32_t table, std::int64_t first, std::span<const std::int64_t> ends,
                    std::int64_t first_entry, std::span<const std::int64_t> ids);

  /// A tag of the file.
  class Tag {
    friend class H5mFile;
    std::string path_;
    Handle type_;
    bool is_variable_ = false;
  };
  /// Define a tag. Values are put into tables where every row has one, or lists of the ids that have one.
  [[nodiscard]] Tag make_tag(const H5mNewTag& tag);
  /// Make room for a value on every row of a table, to be put with `put_values`. @pre lengths do not vary
  [[nodiscard]] FileWriter::Rows make_dense(const Tag& tag, std::int32_t table);
  /// Rows of a list of ids and their values.
  struct Sparse {
    FileWriter::Rows ids;
    FileWriter::Rows lasts;  ///< made where lengths vary
    FileWriter::Rows values;
  };
  /// Make room for values of some ids. @param n_values  numbers of all values where lengths vary
  [[nodiscard]] Sparse make_sparse(const Tag& tag, std::int64_t n_ids, std::int64_t n_values = 0);
  void put_ids(const Sparse& rows, std::int64_t first, std::span<const std::int64_t> ids) {
    file_.put_rows(rows.ids, first, ids);
  }
  /// Where lengths vary: one past the last number of each id's value, among all.
  void put_ends(const Sparse& rows, std::int64_t first, std::span<const std::int64_t> ends) {
    put_lasts(rows.lasts, first, ends);
  }
  /// @param count  values, or numbers of them where lengths vary
  void put_values(const FileWriter::Rows& rows, std::int64_t first, std::int64_t count,
                  std::span<const std::byte> values) {
    file_.put_rows(rows, first, count, values.data());
  }

  /// Write the list of sets and their relatives, and make room for their contents. Once, if there are sets; O(sets) on
  /// each rank. @throws AgreedError{usage} for another number of sets than was said
  void make_sets(const H5mSetList& sets);
  /// Put words of what sets contain, as their flags say: ids, or pairs of first id and number.
  void put_contents(std::int64_t first, std::span<const std::int64_t> words) {
    file_.put_rows(contents_, first, words);
  }

  /// Complete the file and give it its name. @throws as FileWriter
  void close();

 private:
  struct Elements {
    FileWriter::Rows connectivity;
    FileWriter::Rows lasts;  // made where the number of nodes varies
    std::int64_t first_id = 0;
  };
  void make_elements(Handle& types, std::size_t table);
  [[nodiscard]] std::string path_of(std::int32_t table) const;
  /// @throws Error{usage} for a table that is not there
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

/// The name of a tag as .h5m files spell it in paths, and back.
std::string h5m_escaped(const std::string& name);
std::string h5m_unescaped(const std::string& path);

}  // namespace barrio::files
