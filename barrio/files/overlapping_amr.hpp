#pragma once

/// @file Writing overlapping AMR data (boxes on levels, cell arrays) as VTKHDF.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "barrio/files/detail/growing_column.hpp"
#include "barrio/files/writer.hpp"
#include "barrio/geometry/index_box.hpp"

namespace barrio::files {

/// Geometry of the cells of a hierarchy of levels.
struct AmrGeometry {
  std::array<double, 3> origin{0.0, 0.0, 0.0};  ///< low corner of the cell 0, 0, 0 on each level
  /// Cell size on each level, coarse to fine. The ratio of consecutive levels must be an integer, the same along each
  /// axis.
  std::vector<std::array<double, 3>> spacing;
};

/// A writer of a VTKHDF file of overlapping AMR (version 2.3): boxes of cells on levels, coarse to fine, and values on
/// their cells. The file has one hierarchy, or a series in which everything may change from step to step. VTK 9.4,
/// ParaView 5.13 and newer versions read series. Cells covered by finer ones have values too; readers hide them. All
/// functions except `put_array` are collective, with the same names on every rank. See the documentation of the VTK
/// file format.
///
/// In a series boxes and arrays are kept until they are given again; new boxes need new arrays. Plane grids are one
/// coarse cell thick, because VTK has no other representation for them and hides only completely covered cells.
class OverlappingAmrFile {
 public:
  /// Box of cells, in indices of its level.
  using Box = geometry::IndexBox<3>;

  /// Make a file. @param has_steps  the file is a series @param expected_bytes  as FileWriter
  /// @throws AgreedError{failed}; AgreedError{usage} if there is no level or a spacing is invalid
  OverlappingAmrFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes,
                     const AmrGeometry& geometry, bool has_steps = false);

  /// Return the number of levels, that of the spacings given. Local.
  [[nodiscard]] std::size_t n_levels() const noexcept { return levels_.size(); }

  /// Define the boxes; those of a level are stored in the order of ranks. Call it once, or in a series whenever they
  /// change.
  /// @param boxes  boxes of this rank on each level, in indices of the cells of that level. Boxes of a level are
  /// disjoint
  /// @throws AgreedError{usage} for a wrong number of levels, an empty box, indices beyond 32 bits, or a second call
  /// without steps. Cost: a few reductions; memory O(boxes of this rank)
  void make_boxes(std::span<const std::vector<Box>> boxes);

  /// An array whose values can be put.
  class ArrayRows {
    friend class OverlappingAmrFile;
    explicit ArrayRows(std::string name) : name_(std::move(name)) {}
    std::string name_;
  };
  /// Make an array on the cells of the current boxes. @param width  numbers per cell. @throws AgreedError{usage} if the
  /// width or type differs from before, if the array is given twice without steps, or is new after the first step
  template <class T>
  [[nodiscard]] ArrayRows make_array(const std::string& name, int width = 1) {
    return make_array(name, FileWriter::native_type<T>(), width);
  }
  /// Put the values of one of this rank's boxes. Local; each box once, in any order. @param values  shape (cells of the
  /// box, width); the first axis varies fastest. A fault is thrown as by FileWriter::put_rows.
  template <class T>
  void put_array(const ArrayRows& array, std::size_t level, std::size_t box, std::span<const T> values) {
    if (const Place place = place_of(array, level, box, std::ssize(values)); place.column != nullptr)
      file_.put_rows(place.column->rows, place.row, values);
  }
  /// End a step; boxes and arrays given since the last step or kept from before belong to it.
  /// @throws AgreedError{usage} for an array that does not belong to the current boxes
  void end_step(double time);
  /// Complete the file and rename it to its final name. @throws as FileWriter
  void close();

 private:
  using Column = detail::GrowingColumn;
  struct Level {
    Column boxes;
    std::int64_t n_boxes = 0;          // of all ranks, in the current step
    std::int64_t n_cells = 0;          // in these boxes
    std::vector<std::int64_t> first;   // first cell row of each of this rank's boxes, and the end of the last
    std::vector<std::int64_t> firsts;  // row of the first box, by step
    std::vector<std::int64_t> counts;  // number of boxes, by step
  };
  struct Array {
    int width = 1;
    std::size_t number_bytes = 0;
    std::uint64_t n_of_boxes = 0;                    // value of n_of_boxes_ when it was made
    std::vector<Column> columns;                     // by level
    std::vector<std::vector<std::int64_t>> offsets;  // by level, by step
  };
  struct Place {
    const Column* column;
    std::int64_t row;
  };
  [[nodiscard]] ArrayRows make_array(const std::string& name, hid_t type, int width);
  /// Locate the rows of a box. @return null column if the values do not fit; this is kept as a fault
  [[nodiscard]] Place place_of(const ArrayRows& array, std::size_t level, std::size_t box, std::int64_t n_values);
  void make_level(std::size_t level);
  void write_steps();

  mpi::Context& context_;
  std::string path_;
  bool has_steps_;
  std::vector<std::array<double, 3>> spacing_;
  FileWriter file_;
  std::vector<Level> levels_;
  std::uint64_t n_of_boxes_ = 0;  // number of calls of make_boxes
  std::map<std::string, Array> arrays_;
  std::vector<double> times_;
};

/// A reader of the steps of a series that OverlappingAmrFile wrote, to copy them into another file.
class OverlappingAmrSteps {
 public:
  /// Open a file. Collective; each rank reads on its own.
  /// @throws AgreedError{failed} or {bad_input} if it cannot be read, or is not such a series
  OverlappingAmrSteps(mpi::Context& context, std::string path);

  /// Return the times of the steps, the same on all ranks. Local; borrowed from the reader.
  [[nodiscard]] const std::vector<double>& times() const noexcept { return times_; }
  /// Copy a step: its boxes, its arrays of reals of 64 bits and its time. Collective; each rank copies an equal number
  /// of the boxes of each level. @throws AgreedError{bad_input} for damaged data or another type of array; as
  /// OverlappingAmrFile if `to` has fewer levels. Memory: one array on one box
  void copy(std::size_t step, OverlappingAmrFile& to) const;

 private:
  using Box = OverlappingAmrFile::Box;
  struct Level {
    std::string group;
    std::vector<std::int64_t> first_box;               // by step
    std::vector<std::int64_t> n_boxes;                 // by step
    std::vector<std::string> arrays;                   // names
    std::vector<std::vector<std::int64_t>> first_row;  // of each array, by step
  };
  void open();
  [[nodiscard]] std::vector<Box> read_boxes(const Level& level, std::size_t step) const;

  mpi::Context& context_;
  std::string path_;
  Handle file_;
  std::vector<double> times_;
  std::vector<Level> levels_;
};

}  // namespace barrio::files
