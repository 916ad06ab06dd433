#pragma once

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

/// Where the cells of a hierarchy of levels stand.
struct AmrGeometry {
  std::array<double, 3> origin{0.0, 0.0, 0.0};  ///< low corner of the cell 0, 0, 0 of each level
  /// Size of a cell of each level, coarse to fine; that of the next level must go into it a whole number of times, the
  /// same along each axis.
  std::vector<std::array<double, 3>> spacing;
};

/// Write a VTKHDF file of overlapping AMR (version 2.3): boxes of cells on levels, coarse to fine, and values on their
/// cells; one hierarchy, or a series in which all changes from step to step. VTK 9.4 and ParaView 5.13 and newer read
/// series. Cells that finer ones cover have values too, and readers hide them. All verbs but `put_array` are
/// collective, the names the same on every rank. See the documentation of the VTK file format.
///
/// In a series boxes and arrays are kept until they are given again; new boxes need new arrays. Plane grids are one
/// coarse cell thick: VTK has no other place for them, and hides only cells that finer ones cover through and through.
class OverlappingAmrFile {
 public:
  using Box = geometry::IndexBox<3>;

  /// @param has_steps  a series @param expected_bytes  as FileWriter
  /// @throws AgreedError{failed}; AgreedError{usage} for no level or spacings that cannot be
  OverlappingAmrFile(mpi::Context& context, const std::string& path, std::uint64_t expected_bytes,
                     const AmrGeometry& geometry, bool has_steps = false);

  [[nodiscard]] std::size_t n_levels() const noexcept { return levels_.size(); }

  /// Make room for boxes; those of a level stand in the order of ranks. Once, or in a series as often as they change.
  /// @param boxes  of each level, those that this rank has: indices of cells of that level. Boxes of a level do not
  /// meet
  /// @throws AgreedError{usage} for another number of levels, an empty box, indices beyond 32 bits, boxes given again
  /// without steps. Cost: a few reductions; memory O(boxes of this rank)
  void make_boxes(std::span<const std::vector<Box>> boxes);

  /// An array for which there is room.
  class ArrayRows {
    friend class OverlappingAmrFile;
    explicit ArrayRows(std::string name) : name_(std::move(name)) {}
    std::string name_;
  };
  /// Make room for an array on the cells of the present boxes. @param width  numbers a cell. @throws AgreedError{usage}
  /// for an array of another width or type than before, one given twice without steps, or a new one after the first
  /// step
  template <class T>
  [[nodiscard]] ArrayRows make_array(const std::string& name, int width = 1) {
    return make_array(name, FileWriter::native_type<T>(), width);
  }
  /// Put the values of one of this rank's boxes. Local; each box once, in any order. @param values  shape (cells of the
  /// box, width), the first axis runs first. A fault is thrown as FileWriter::put_rows does it.
  template <class T>
  void put_array(const ArrayRows& array, std::size_t level, std::size_t box, std::span<const T> values) {
    if (const Place place = place_of(array, level, box, std::ssize(values)); place.column != nullptr)
      file_.put_rows(place.column->rows, place.row, values);
  }
  /// End a step: what was given, or kept, belongs to it. @throws AgreedError{usage} for an array of other boxes than
  /// the present ones
  void end_step(double time);
  /// @throws as FileWriter
  void close();

 private:
  using Column = detail::GrowingColumn;
  struct Level {
    Column boxes;
    std::int64_t n_boxes = 0;          // of all ranks, in the present step
    std::int64_t n_cells = 0;          // of these
    std::vector<std::int64_t> first;   // row of each of this rank's boxes among the cells, and the end of the last
    std::vector<std::int64_t> firsts;  // row of the first box, by step
    std::vector<std::int64_t> counts;  // boxes, by step
  };
  struct Array {
    int width = 1;
    std::size_t number_bytes = 0;
    std::uint64_t n_of_boxes = 0;                    // which boxes it was made for
    std::vector<Column> columns;                     // by level
    std::vector<std::vector<std::int64_t>> offsets;  // by level, by step
  };
  struct Place {
    const Column* column;
    std::int64_t row;
  };
  [[nodiscard]] ArrayRows make_array(const std::string& name, hid_t type, int width);
  /// @return no column if the values do not fit, which is kept as a fault
  [[nodiscard]] Place place_of(const ArrayRows& array, std::size_t level, std::size_t box, std::int64_t n_values);
  void make_level(std::size_t level);
  void write_steps();

  mpi::Context& context_;
  std::string path_;
  bool has_steps_;
  std::vector<std::array<double, 3>> spacing_;
  FileWriter file_;
  std::vector<Level> levels_;
  std::uint64_t n_of_boxes_ = 0;  // how often boxes were given
  std::map<std::string, Array> arrays_;
  std::vector<double> times_;
};

}  // namespace barrio::files
