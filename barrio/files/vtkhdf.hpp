#pragma once

/// @file Writing unstructured grids and their arrays as VTKHDF.

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

/// Sizes of this rank's pieces of an unstructured grid. All spans are borrowed.
struct VtkhdfSizes {
  std::span<const std::int64_t> n_points = {};      ///< by piece, like all other sizes
  std::span<const std::int64_t> n_cells = {};       ///< cells of the piece
  std::span<const std::int64_t> n_nodes = {};       ///< nodes of all cells of the piece
  std::span<const std::int64_t> n_faces = {};       ///< faces of polyhedra; empty on all ranks if there are none
  std::span<const std::int64_t> n_face_nodes = {};  ///< nodes of all faces of the piece
};

/// One or more pieces of an unstructured grid in the layout of VTKHDF: consecutive, with connectivity and offsets from
/// 0 in each. All spans are borrowed.
struct VtkhdfArrays {
  std::span<const double> points = {};              ///< shape (points, 3)
  std::span<const std::int64_t> connectivity = {};  ///< nodes of cells, as places among the points of their piece
  std::span<const std::int64_t> offsets = {};       ///< of cells in their piece's nodes: cells + 1 per piece
  std::span<const std::uint8_t> types = {};         ///< VTK's numbers of cell types
  // For polyhedra (VTK's type 42); all empty if there are none.
  std::span<const std::int64_t> face_nodes = {};    ///< places among the points of the piece
  std::span<const std::int64_t> face_offsets = {};  ///< of faces in their piece's face nodes
  std::span<const std::int64_t> cell_faces = {};    ///< faces of each cell, as places among the faces of the piece
  std::span<const std::int64_t> cell_offsets = {};  ///< of cells in their piece's cell_faces
};

/// A writer of a VTKHDF file (unstructured grid, version 2) from arrays: one grid, or a series in which grid and arrays
/// change from step to step. ParaView 5.12, VTK 9.3 and newer versions read it. All functions except `put_...` are
/// collective, with the same names on every rank. See the documentation of the VTK file format.
///
/// Data that do not fit into memory are put piece by piece: `make_grid` and `make_array` allocate the space,
/// `put_piece` and `put_array` fill it.
///
/// In a series the grid and each array are kept until they are given again. An array with the same values as in the
/// step before, on all ranks, is not written again.
class VtkhdfFile {
 public:
  /// Entities that the rows of an array belong to.
  enum class Of {
    points,  ///< PointData of VTK
    cells,   ///< CellData of VTK
  };

  /// Make a file. @param has_steps  the file is a series @param expected_bytes  as FileWriter
  /// @throws AgreedError{failed}
  VtkhdfFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes, bool has_steps = false);

  /// Define a grid; the pieces are stored in the order of ranks. Call it once, or in a series when the grid changes.
  /// @throws AgreedError{usage} for a second grid without steps, or for a changing grid with polyhedra, which VTKHDF
  /// does not support. Cost: a few reductions; memory O(pieces of this rank)
  void make_grid(const VtkhdfSizes& sizes);
  /// Put a piece of this rank, with the size given to `make_grid`. Local; each piece once, in any order. A fault is
  /// thrown as by FileWriter::put_rows.
  void put_piece(std::size_t piece, const VtkhdfArrays& arrays);
  /// Write a grid: define it and put all pieces. @throws as make_grid; AgreedError{usage} for arrays whose sizes do not
  /// match
  void write_grid(const VtkhdfSizes& sizes, const VtkhdfArrays& arrays);

  /// An array whose values can be put.
  class ArrayRows {
    friend class VtkhdfFile;
    ArrayRows(const FileWriter::Rows& rows, std::int64_t first, Of of, int width, std::string name)
        : rows_(rows), first_(first), of_(of), width_(width), name_(std::move(name)) {}
    FileWriter::Rows rows_;
    std::int64_t first_;  // first row of the grid
    Of of_;
    int width_;
    std::string name_;
  };
  /// Make an array on the current grid. @param width  numbers per row. @throws AgreedError{usage} if the width or type
  /// differs from before, if the array is given twice without steps, or is new after the first step
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
  /// Write an array: make it and put this rank's rows, those of all its points or cells in the order of its pieces. In
  /// a series an array that is unchanged on all ranks is not written again.
  /// @throws as make_array; AgreedError{usage} if the number of rows is not that of the grid
  template <class T>
  void write_array(Of of, const std::string& name, int width, std::span<const T> values) {
    write_array(of, name, FileWriter::native_type<T>(), width, std::ssize(values), values.data());
  }
  /// Mark an array of this file as the global ids of points or cells, as VTK does. @pre it was made
  void mark_ids(Of of, const std::string& name);
  /// End a step; the grid and arrays given since the last step or kept from before belong to it.
  /// @throws AgreedError{usage} for an array that does not belong to the current grid
  void end_step(double time);
  /// Complete the file and rename it to its final name. @throws as FileWriter
  void close();

 private:
  /// Rows of one kind: their total on all ranks, and the first row of each piece of this rank.
  struct Rows {
    std::int64_t n = 0;
    std::vector<std::int64_t> first;  // first row of each piece of this rank, and the end of the last
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
    std::uint64_t grid = 0;  // number of the grid that it was made for
    bool is_streamed = false;
    bool is_marked = false;
    std::uint64_t hash = 0;             // hash of this rank's rows, unless streamed
    std::vector<std::int64_t> offsets;  // by step
  };
  [[nodiscard]] ArrayRows make_array(Of of, const std::string& name, hid_t type, int width);
  void write_array(Of of, const std::string& name, hid_t type, int width, std::int64_t n_values, const void* values);
  /// Find the array with a name, or add it. @throws as make_array
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
  /// Put rows of this rank, starting with those of a piece. Local.
  template <class T>
  void put(const char* name, Kind kind, std::size_t piece, std::span<const T> values) {
    const Column& column = columns_.at(name);
    file_.put_rows(column.rows, column.first + kinds_[kind].first[piece], values);
  }
  void put_all(std::size_t piece, const VtkhdfArrays& arrays);
  /// Check the number of a piece. @throws Error{usage} if this rank has no such piece. Local.
  void check_piece(std::size_t piece) const;
  /// Check the sizes of arrays. @throws Error{usage} if they differ from `sizes`. Local.
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
  /// First rows of the grid of a step.
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
