#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/io/vtk/vtk_grid.hpp"

// Polyhedra of VTK files. A `VtkGrid` holds them as barrio does: cells of type 42, whose nodes are closed loops, one
// for each face (see `CellType`). Dialects list the faces in two ways: as streams, or in arrays apart from the cells.

namespace barrio::io::detail {

/// Append a face as a closed loop. Repetitions of its last or its first point at its end are left out.
void add_loop(std::span<const std::int64_t> face, std::vector<std::int64_t>& loops);

/// Append the faces of a polyhedron's stream: the number of faces, then the number of points and the points of each.
/// @return false if the stream does not have the length that it states; then some faces may have been appended
bool add_loops_of_stream(std::span<const std::int64_t> stream, std::vector<std::int64_t>& loops);

/// Closed loops of consecutive cells; of cells that are no polyhedra, none.
struct VtkLoops {
  std::vector<std::int64_t> offsets{0};  ///< of each cell's nodes, one longer than the number of cells
  std::vector<std::int64_t> nodes;

  void end_cell() { offsets.push_back(std::ssize(nodes)); }
  [[nodiscard]] std::span<const std::int64_t> of(std::size_t cell) const& noexcept {
    return std::span<const std::int64_t>(nodes).subspan(offsets[cell], offsets[cell + 1] - offsets[cell]);
  }
};

/// Arrays that list faces apart from the cells, as .vtu files of version 2.3 and VTKHDF files do. Each call returns
/// numbers from one place on; it throws Error{bad_input} if the array is shorter.
struct VtkFaceArrays {
  using Slice = std::function<std::vector<std::int64_t>(std::int64_t first, std::int64_t n)>;
  Slice cell_offsets;  ///< n + 1 numbers: where the faces of each of n cells begin in `cell_faces`, and where they end
  Slice cell_faces;    ///< n faces
  Slice
      face_offsets;   ///< n + 1 numbers: where the points of each of n faces begin in `face_points`, and where they end
  Slice face_points;  ///< n points
};

/// Read the polyhedra among n cells from `first` on. Local.
/// @throws Error{bad_input} naming `path` if offsets descend, or a face belongs to more than two cells
/// Cost: memory O(n, faces of these cells), wherever the faces are
VtkLoops read_loops(const VtkFaceArrays& arrays, std::int64_t first, std::int64_t n, const std::string& path);

/// Turn the nodes of all polyhedra of a share from streams into closed loops. Local.
/// @throws Error{bad_input} naming `path` if a stream does not have the length that it states
void unpack_streams(VtkGrid& grid, const std::string& path);

/// Turn pentagonal and hexagonal prisms into polyhedra, and count them. Local.
void make_polyhedra_of_prisms(VtkGrid& grid);

}  // namespace barrio::io::detail
