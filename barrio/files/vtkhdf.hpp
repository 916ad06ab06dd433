#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/files/detail/growing_column.hpp"
#include "barrio/files/writer.hpp"

namespace barrio::files {

/// Sizes of the pieces of an unstructured grid that this rank has. All spans are borrowed.
struct VtkhdfSizes {
  std::span<const std::int64_t> n_points = {};  ///< of each piece, as are all others
  std::span<const std::int64_t> n_cells = {};
  std::span<const std::int64_t> n_nodes = {};       ///< of all cells of the piece
  std::span<const std::int64_t> n_faces = {};       ///< of polyhedra; empty on all ranks if there are none
  std::span<const std::int64_t> n_face_nodes = {};  ///< of all faces of the piece
};

/// One or more pieces of an unstructured grid, as VTKHDF stores them: one after the other, connectivity and offsets
/// from 0 in each. All spans are borrowed.
struct VtkhdfArrays {
  std::span<const double> points = {};              ///< shape (points, 3)
  std::span<const std::int64_t> connectivity = {};  ///< of cells, places among the points of their piece
  std::span<const std::int64_t> offsets = {};       ///< of cells in their piece's nodes: one more than cells a piece
  std::span<const std::uint8_t> types = {};         ///< VTK's numbers of cell types
  /// Of polyhedra (VTK's type 42); all empty if there are none.
  std::span<const std::int64_t> face_nodes = {};    ///< places among the points of the piece
  std::span<const std::int64_t> face_offsets = {};  ///< of faces in their piece's face nodes
  std::span<const std::int64_t> cell_faces = {};    ///< places of faces in their piece, cell after cell
  std::span<const std::int64_t> cell_offsets = {};  ///< of cells in their piece's cell_faces
};

/// Write a VTKHDF file (unstructured grid, version 2) of arrays: one grid, or a series in which grid and arrays change
/// from step to step. ParaView 5.12 and VTK 9.3 and newer read it. All verbs but `put_...` are collective, the names
/// the same on every rank. See the documentation of the VTK file format.
///
/// What does not fit into memory is put piece by piece: `make_grid` and `make_array` make room for it, `put_piece` and
/// `put_array` fill it.
///
/// In a series the grid and each array are kept until they are given again. Where an array of a step holds what it
/// held before, on all ranks, it is not written again.
class VtkhdfFile {
 public:
  enum class Of { points, cells };

  /// @param has_steps  a series @param expected_bytes  as FileWriter. @throws AgreedError{failed}
  VtkhdfFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes, bool has_steps = false);

  /// Make room for a grid; the pieces of all ranks stand in the order of ranks. Once, or in a series as often as it
  /// changes.
  /// @throws AgreedError{usage} for a second grid without steps, and for a series with polyhedra whose grid changes,
  /// for which VTKHDF has no place. Cost: a few reductions; memory O(pieces of this rank)
  void make_grid(const VtkhdfSizes& sizes);
  /// Put a piece of this rank, which must have the size that `make_grid` was told. Local; each piece once, in any
  /// order. A fault is thrown as FileWriter::put_rows does it.
  void put_piece(std::size_t piece, const VtkhdfArrays& arrays);
  /// Make the room and put all pieces. @throws, besides, AgreedError{usage} for arrays that do not fit each other
  void write_grid(const VtkhdfSizes& sizes, const VtkhdfArrays& arrays);

  /// An array for which there is room.
  class ArrayRows {
    friend class VtkhdfFile;
    ArrayRows(const FileWriter::Rows& rows, std::int64_t first, Of of, int width, std::string name)
        : rows_(rows), first_(first), of_(of), width_(width), name_(std::move(name)) {}
    FileWriter::Rows rows_;
    std::int64_t first_;  // of the grid's rows
    Of of_;
    int width_;
    std::string name_;
  };
  /// Make room for an array of the present grid. @param width  numbers a row. @throws AgreedError{usage} for an array
  /// of another width or type than before, one given twice without steps, or a new one after the first step
  template <class T>
  [[nodiscard]] ArrayRows make_array(Of of, const std::string& name, int width) {
    return make_array(of, name, FileWriter::native_type<T>(), width);
  }
  /// Put the values of one of this rank's pieces. As put_piece.
  template <class T>
  void put_array(const ArrayRows& array, std::size_t piece, std::span<const T> values) {
    if (fits(array, piece, std::ssize(values)))
      file_.put_rows(array.rows_, array.first_ + first_row(array.of_, piece), values);
  }
  /// Make the room and put this rank's rows: of all its points or cells, in the order of its pieces. In a series rows
  /// that are those of before on all ranks are not written again.
  /// @throws, besides, AgreedError{usage} for a number of rows that is not that of the grid
  template <class T>
  void write_array(Of of, const std::string& name, int width, std::span<const T> values) {
    write_array(of, name, FileWriter::native_type<T>(), width, std::ssize(values), values.data());
  }
  /// End a step: what was given, or kept, belongs to it. @throws AgreedError{usage} for an array that is not of the
  /// present grid
  void end_step(double time);
  /// @throws as FileWriter
  void close();

 private:
  /// Rows of which each piece has some: of all ranks, and where those of this rank's pieces begin.
  struct Rows {
    std::int64_t n = 0;
    std::vector<std::int64_t> first;  // of each piece of this rank, and the end of the last
  };
  enum Kind : std::size_t {
    of_pieces,
    of_points,
    of_cells,
    of_nodes,
    of_faces,
    of_face_nodes,
    of_offsets,
    of_face_offsets,
    n_kinds
  };
  using Column = detail::GrowingColumn;
  struct Array {
    int width = 1;
    std::size_t number_bytes = 0;
    Column column;
    std::uint64_t grid = 0;  // number of the grid for which it was made
    bool is_streamed = false;
    std::uint64_t hash = 0;             // of this rank's rows, unless streamed
    std::vector<std::int64_t> offsets;  // by step
  };
  [[nodiscard]] ArrayRows make_array(Of of, const std::string& name, hid_t type, int width);
  void write_array(Of of, const std::string& name, hid_t type, int width, std::int64_t n_values, const void* values);
  /// The array of a name, known or new. @throws as make_array
  Array& find_array(Of of, const std::string& name, hid_t type, int width);
  ArrayRows make_rows_of(Array& array, Of of, const std::string& name, hid_t type);
  [[nodiscard]] bool fits(const ArrayRows& array, std::size_t piece, std::int64_t n);
  [[nodiscard]] const Rows& rows_of(Of of) const { return kinds_[of == Of::points ? of_points : of_cells]; }
  [[nodiscard]] std::int64_t first_row(Of of, std::size_t piece) const { return rows_of(of).first[piece]; }
  void make(Column& column, const std::string& path, hid_t type, std::int64_t row_size, std::int64_t n) {
    column.append(file_, "/VTKHDF/" + path, type, row_size, n, has_steps_);
  }
  template <class T>
  void make_column(const std::string& name, Kind kind, std::int64_t row_size = 0) {
    make(columns_[name], name, FileWriter::native_type<T>(), row_size, kinds_[kind].n);
  }
  /// Put rows of this rank, from those of a piece on. Local.
  template <class T>
  void put(const char* name, Kind kind, std::size_t piece, std::span<const T> values) {
    const Column& column = columns_.at(name);
    file_.put_rows(column.rows, column.first + kinds_[kind].first[piece], values);
  }
  void put_all(std::size_t piece, const VtkhdfArrays& arrays);
  /// @throws Error{usage} if this rank has no such piece. Local.
  void check_piece(std::size_t piece) const;
  /// @throws Error{usage} for arrays that do not have these sizes. Local.
  void check(const VtkhdfArrays& arrays, const VtkhdfSizes& sizes) const;
  void write_steps();

  mpi::Context& context_;
  std::string path_;
  bool has_steps_;
  FileWriter file_;
  std::map<std::string, Column, std::less<>> columns_;
  std::uint64_t n_grids_ = 0;
  bool has_polyhedra_ = false;
  std::array<Rows, n_kinds> kinds_;
  std::vector<double> times_;
  /// Where the grid of a step begins, by step.
  struct GridOffsets {
    std::int64_t piece = 0;
    std::int64_t n_pieces = 0;
    std::int64_t point = 0;
    std::int64_t cell = 0;
    std::int64_t node = 0;
  };
  std::vector<GridOffsets> grids_;
  std::map<std::pair<Of, std::string>, Array> arrays_;
};

}  // namespace barrio::files
