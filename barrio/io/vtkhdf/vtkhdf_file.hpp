#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "barrio/files/hdf5.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"
#include "barrio/io/vtk/vtk_left_out.hpp"

namespace barrio::io::detail {

/// Cells of a VTKHDF file that are listed together: those of an unstructured grid, or the lines, polygons and so on of
/// polygonal data. The numbers are those of one time step.
struct VtkhdfCells {
  std::string path = {};                   ///< of the group
  int type = 0;                            ///< VTK's number of the type of all; 0: the file states the types
  std::vector<std::int64_t> n_cells = {};  ///< by piece
  std::vector<std::int64_t> n_nodes = {};  ///< by piece
  std::int64_t first_cell = 0;             ///< row in the file
  std::int64_t first_node = 0;
  std::int64_t n_pieces_before = 0;  ///< whose offsets precede those of the step
};

/// Sizes, by piece, of the lists of faces of polyhedra; empty without any.
struct VtkhdfFaces {
  std::vector<std::int64_t> n_faces = {};
  std::vector<std::int64_t> n_face_nodes = {};
  std::vector<std::int64_t> n_cell_faces = {};
};

/// An array of values of a VTKHDF file.
struct VtkhdfArray {
  std::string path = {};
  std::string name = {};
  int n_components = 1;
  bool is_integer = false;
  bool is_id = false;          ///< marked as global ids
  std::int64_t first_row = 0;  ///< of the time step
};

/// Contents of a VTKHDF file at one time step without its arrays. O(pieces + arrays).
struct VtkhdfCatalog {
  std::string format = {};                    ///< that `barrio info` prints
  std::int64_t first_piece = 0;               ///< row in the file
  std::int64_t first_point = 0;               ///< row in the file
  std::vector<std::int64_t> first_points{0};  ///< of each piece, from 0; and their end
  std::vector<std::int64_t> first_cells{0};   ///< of each piece: of all lists, one after the other
  std::vector<VtkhdfCells> cells = {};
  VtkhdfFaces faces = {};
  std::vector<VtkhdfArray> on_points = {};
  std::vector<VtkhdfArray> on_cells = {};
  VtkLeftOut left_out = {};

  [[nodiscard]] std::int64_t n_pieces() const noexcept { return std::ssize(first_points) - 1; }
  [[nodiscard]] std::int64_t n_points() const noexcept { return first_points.back(); }
  [[nodiscard]] std::int64_t n_cells() const noexcept { return first_cells.back(); }
};

/// Return the number of time steps of a VTKHDF file. Local. @throws Error{bad_input}
std::int64_t n_vtkhdf_steps(hid_t file, const std::string& path);

/// Read the lists of pieces and arrays. Local. @param step  from 0; -1 for a file without steps
/// @throws Error{bad_input} naming `path` for a type of data that is not a mesh, or a file that is damaged
VtkhdfCatalog read_vtkhdf_catalog(hid_t file, const std::string& path, std::int64_t step);

/// Read one share. Collective if the file is open on all ranks: then each reads the share with the number of its rank.
VtkGrid read_vtkhdf_share(files::Place file, const std::string& path, const VtkhdfCatalog& catalog, int share,
                          int n_shares);

}  // namespace barrio::io::detail
