#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/io/vtk/vtk_left_out.hpp"
#include "barrio/io/vtk/vtk_numbers.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::io::detail {

/// Consecutive numbers of one section that belong to one share.
struct VtkPiece {
  std::int64_t section;
  std::int64_t offset;  ///< byte in the file
  std::int64_t n;       ///< numbers, not rows
};

/// Index of a legacy VTK file. Its size grows with the number of arrays and, on rank 0 while it is made, with the
/// number of shares; not with the mesh.
struct VtkIndex {
  enum class Dataset : std::int32_t {
    unstructured_grid,
    polydata,
    structured_grid,
    rectilinear_grid,
    structured_points
  };
  struct Section {
    enum class Use : std::int32_t {
      points,
      x_axis,
      y_axis,
      z_axis,
      cells,
      offsets,
      connectivity,
      types,
      on_points,
      on_cells
    };
    Use use;
    VtkNumber number;
    std::int32_t n_components;
    std::int32_t cell_type;      ///< of all cells of the section; 0: another section states the types
    std::int32_t is_colour = 0;  ///< 0 to 1 in a text stand for 0 to 255
  };
  struct Head {
    bool is_binary = false;
    std::array<std::int32_t, 2> version{};  ///< major, minor
    Dataset dataset = Dataset::unstructured_grid;
    std::int64_t n_points = 0;
    std::int64_t n_cells = 0;
    std::array<std::int64_t, 3> dimensions{};  ///< points along the axes, of structured datasets
    std::array<double, 3> origin{};
    std::array<double, 3> spacing{1.0, 1.0, 1.0};
  };
  Head head;
  std::vector<Section> sections;
  std::vector<std::string> names;  ///< of the sections that are data
  VtkLeftOut left_out;
  std::vector<std::vector<VtkPiece>> pieces;  ///< by share; on the rank that made it

  [[nodiscard]] bool is_structured() const noexcept { return head.dataset >= Dataset::structured_grid; }
  /// Return the name that `barrio info` prints: "VTK legacy 3.0, text".
  [[nodiscard]] std::string format() const;
  /// Share the sections with all ranks. Collective.
  void share(mpi::Context& context);
  /// Distribute the pieces, to each rank those of its share. Collective.
  [[nodiscard]] std::vector<VtkPiece> pieces_of(mpi::Context& context) const;
};

/// Scan a legacy file once and cut its rows into even shares. Local; memory does not grow with the mesh.
/// @throws Error{bad_input} for a file that is not VTK, has a dataset that barrio does not know or ends early; {failed}
VtkIndex index_vtk(const std::string& path, int n_shares);

/// Read one share. Local. @param pieces  of that share
/// @param with_grid  whether to make the cells and points of a structured dataset that the file does not list
/// @throws Error{bad_input} with the byte where parsing fails
VtkGrid read_vtk_share(const std::string& path, const VtkIndex& index, const std::vector<VtkPiece>& pieces, int share,
                       int n_shares, bool with_grid = true);

}  // namespace barrio::io::detail
