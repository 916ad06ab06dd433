#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "barrio/files/writer.hpp"

namespace barrio::files {

/// Pieces of an unstructured grid that this rank has, as VTKHDF stores them: one after the other, connectivity and
/// offsets from 0 in each. All spans are borrowed.
struct VtkhdfGrid {
  std::span<const std::int64_t> n_points = {};  ///< of each piece, as are the next two
  std::span<const std::int64_t> n_cells = {};
  std::span<const std::int64_t> n_nodes = {};
  std::span<const double> points = {};              ///< shape (points, 3)
  std::span<const std::int64_t> connectivity = {};  ///< of cells, places among the points of their piece
  std::span<const std::int64_t> offsets = {};       ///< of cells in their piece's nodes: one more than cells a piece
  std::span<const std::uint8_t> types = {};         ///< VTK's numbers of cell types
  /// Of polyhedra (VTK's type 42); all empty on all ranks if there are none.
  std::span<const std::int64_t> n_faces = {};       ///< of each piece
  std::span<const std::int64_t> n_face_nodes = {};  ///< of each piece
  std::span<const std::int64_t> face_nodes = {};    ///< places among the points of the piece
  std::span<const std::int64_t> face_offsets = {};  ///< of faces in their piece's face nodes
  std::span<const std::int64_t> cell_faces = {};    ///< places of faces in their piece, cell after cell
  std::span<const std::int64_t> cell_offsets = {};  ///< of cells in their piece's cell_faces
};

/// Write a VTKHDF file (unstructured grid, version 2) of arrays: one grid, or a series in which grid and arrays change
/// from step to step. ParaView 5.12 and VTK 9.3 and newer read it. All verbs are collective, the names the same on
/// every rank. See the documentation of the VTK file format.
///
/// In a series the grid and each array are kept until they are given again. Where an array of a step holds what it
/// held before, on all ranks, it is not written again.
class VtkhdfFile {
 public:
  enum class Of { points, cells };

  /// @param has_steps  a series @param expected_bytes  as FileWriter. @throws AgreedError{failed}
  VtkhdfFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes, bool has_steps = false);

  /// Give this rank's pieces; those of all ranks stand in the order of ranks. Once, or in a series as often as it
  /// changes.
  /// @throws AgreedError{usage} for arrays that do not fit each other, a second grid without steps, and for a series
  /// with polyhedra whose grid changes, for which VTKHDF has no place
  void write_grid(const VtkhdfGrid& grid);
  /// Give this rank's rows of an array: of all its points or cells, in the order of its pieces.
  /// @param width  numbers a row. @throws AgreedError{usage} for a number of rows that is not that of the grid, an
  /// array of another width than before, one given twice without steps, or a new one after the first step
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
  struct Rows {
    std::int64_t n = 0;
    std::int64_t first = 0;  // of this rank
    std::int64_t count = 0;  // of this rank
  };
  struct Array {
    int width = 1;
    std::size_t number_bytes = 0;
    std::int64_t n_written = 0;         // rows in the file
    std::uint64_t grid = 0;             // number of the grid for which it was written
    std::uint64_t hash = 0;             // of this rank's rows
    std::int64_t offset = 0;            // of the present rows
    std::vector<std::int64_t> offsets;  // by step
  };
  void write_array(Of of, const std::string& name, hid_t type, int width, std::int64_t n_values, const void* values);
  /// Write rows once, or append them to a series. @return where they begin
  std::int64_t put(const std::string& path, hid_t type, std::int64_t row_size, const Rows& rows, const void* values);
  template <class T>
  std::int64_t put(const std::string& path, std::int64_t row_size, const Rows& rows, std::span<const T> values) {
    return put(path, FileWriter::native_type<T>(), row_size, rows, values.data());
  }
  void check(const VtkhdfGrid& grid) const;
  void write_steps();

  mpi::Context& context_;
  std::string path_;
  bool has_steps_;
  FileWriter file_;
  std::map<std::string, std::int64_t> n_rows_;  // of each dataset of a series so far
  std::uint64_t n_grids_ = 0;
  bool has_polyhedra_ = false;
  Rows points_;
  Rows cells_;
  std::int64_t n_pieces_ = 0;
  std::vector<double> times_;
  /// Where the grid of a step begins, by step; of the present one in `grid_`.
  struct GridOffsets {
    std::int64_t piece = 0;
    std::int64_t n_pieces = 0;
    std::int64_t point = 0;
    std::int64_t cell = 0;
    std::int64_t node = 0;
  };
  GridOffsets grid_;
  std::vector<GridOffsets> grids_;
  std::map<std::pair<Of, std::string>, Array> arrays_;
};

}  // namespace barrio::files
