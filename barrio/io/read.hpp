#pragma once

/// @file Read a mesh file, in any of the formats barrio knows, into tables or a distributed mesh.

#include <string>
#include <vector>

#include "barrio/mesh/degenerate.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::io {

/// Mesh file formats that barrio knows.
enum class Format {
  h5m,      ///< MOAB's .h5m, on HDF5
  gmsh,     ///< Gmsh .msh, text or binary
  medit,    ///< Medit .mesh and .meshb
  vtk,      ///< legacy VTK
  vtu,      ///< VTK's XML of one unstructured grid
  pvtu,     ///< VTK's XML that lists the .vtu files of a grid in pieces
  exodus,   ///< Exodus II, on netCDF
  climate,  ///< grid of longitudes and latitudes, CF conventions, on netCDF
  cgns,     ///< CGNS, on HDF5
  su2,      ///< SU2's text format
  vtkhdf,   ///< VTKHDF, on HDF5
  xdmf,     ///< XDMF: XML, with arrays in HDF5 or in the text
};

/// Formats that are read, as messages and help list them.
inline constexpr const char* readable_formats =
    ".h5m, Gmsh .msh 4.1, 2.2 and 1.0, Medit .mesh and .meshb, VTK .vtk, .vtu, .pvtu and VTKHDF, Exodus II, CF netCDF "
    "grids, CGNS on HDF5, SU2, XDMF";

/// Determine the format of a file by its contents. Local.
/// @throws Error{failed} if it cannot be read, {bad_input} if its format is unknown
Format detect_format(const std::string& path);

/// Name of the tag by which programs find the parts of a .h5m file.
inline constexpr const char* default_partition_tag = "PARALLEL_PARTITION";

/// Options of `read_tables()`; the same on all ranks.
struct TableOptions {
  std::vector<std::string> without_tags = {};  ///< tags to leave out; "*" leaves out all
  /// The tag that marks the parts to use: a .h5m file may have several partitions. It is on sets, or an integer of 32
  /// or 64 bits on cells, whose values are the parts. Other partitions stay as they are in the file.
  std::string partition_tag = default_partition_tag;
  /// Treat a file without that tag as one without a partition; for the default name this is always so.
  bool may_lack_partition_tag = false;
  /// Reduce cells of second order to their corners, and log how many nodes that drops; see `mesh::to_linear`.
  bool to_linear = false;
  /// Leave out GLOBAL_ID of a .h5m file where it only repeats the order of the file.
  bool without_row_numbers = false;
  /// Treatment of cells with one vertex at two corners; the log counts them either way. Sides, neighbours and solvers
  /// need distinct corners, so such cells are reduced unless the numbers of cells must stay.
  mesh::Degenerate degenerate = mesh::Degenerate::reduce;
  /// Time step to read, from 1, of Exodus, VTKHDF, XDMF, CF netCDF and CGNS files; 0: the last one. In CGNS, solutions
  /// with the same values in the same place are steps, in the order of their names and the numbers there.
  int step = 0;
};

/// Read a mesh file into tables, each rank its slabs. Collective. Reads .h5m, Gmsh 4.1, 2.2 and 1.0, Medit 0 to 4,
/// legacy VTK, VTU (text and binary), PVTU, VTKHDF (unstructured and polygonal), Exodus II (classic netCDF and
/// netCDF-4), longitude/latitude grids by the CF conventions (also classic netCDF and netCDF-4; see `read_structured`),
/// CGNS (on HDF5), SU2 and XDMF.
///
/// Zones of a CGNS file share their vertices at the 1-to-1 interfaces that the file lists, except periodic ones and
/// those whose vertices lie apart; the log names what stays open. `mesh::join` with `within_pieces` merges by position.
///
/// Cells with one vertex at two corners are reduced or kept, see `TableOptions::degenerate`. Poly-lines and triangle
/// strips of VTK files become edges and triangles, which have the tags of the original cell.
///
/// The vertices of a longitude/latitude grid have the file's numbers (longitude, latitude, level) as coordinates, in
/// the file's order, longitude fastest; the third is 0 without levels. Cells are hexes, or quads if there are fewer
/// than two levels. If the longitudes are periodic, the mesh stays open between the last and the first one: a cell
/// there would reach back over the whole map. Variables over (level, latitude, longitude) become tags on the vertices;
/// those over (latitude, longitude) are repeated on each level. Of a time series one step is read. Packed numbers
/// are unpacked; missing values of reals are NaN.
/// @throws AgreedError{bad_input} naming the file and what is wrong or not supported; {failed} if it cannot be read;
/// {usage} for a partition tag that the file does not have, with a list of those it has, and for one whose values are
/// ids
/// Cost: each byte of the file is read once; memory O(slab) plus the list of sets.
mesh::MeshTables read_tables(mpi::Context& context, const std::string& path, const TableOptions& options = {});

/// Options of `read()`; the same on all ranks.
struct ReadOptions {
  int ghost_layers = 0;                      ///< as in mesh::BuildOptions, like the next four
  mesh::Dim bridge = mesh::Dim::vertex;      ///< dimension over which ghost layers spread
  bool ghost_sides = false;                  ///< ghost cells bring their listed faces and edges
  std::vector<std::string> ghost_sets = {};  ///< sets whose cells become ghosts; empty: all cells
  std::vector<Rank> ghost_ranks = {};        ///< ranks that send and receive ghosts; empty: all ranks
  /// Tags to leave out; "*" leaves out all. GLOBAL_ID here means one that only repeats the order of the file, as in
  /// most .h5m files. Where a program has numbered nodes or elements otherwise, it stays.
  std::vector<std::string> without_tags = {"GLOBAL_ID"};
  /// Used if the file has no partition; the mesh then gets as many parts as ranks. Any name that
  /// `mesh::partition_cells` knows. "rcb" needs the least time and memory and suits most meshes. "hilbert" suits a mesh
  /// that is read again and again while it changes a little. "ptscotch" cuts the fewest sides, which pays off if the
  /// solver runs long. "metis" suits meshes whose graph fits on one rank.
  std::string partitioner = "rcb";
  std::string partition_tag = default_partition_tag;       ///< as in TableOptions, like the next three
  bool to_linear = false;                                  ///< reduce cells of second order to their corners
  mesh::Degenerate degenerate = mesh::Degenerate::reduce;  ///< of cells with one vertex at two corners
  int step = 0;                                            ///< time step, from 1; 0: the last one
};

/// Read a mesh file and build the distributed mesh. Collective.
/// Parts stored in the file go to ranks in contiguous slices, whatever their number: with more ranks than parts some
/// ranks stay empty, which the log reports.
/// @throws AgreedError as read_tables and Mesh
mesh::Mesh read(mpi::Context& context, const std::string& path, ReadOptions options = {});

}  // namespace barrio::io
