#pragma once

#include <string>
#include <vector>

#include "barrio/mesh/degenerate.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::io {

/// Mesh file formats that barrio knows.
enum class Format { h5m, gmsh, medit, vtk, vtu, exodus, climate, cgns, vtkhdf };

/// What messages and help call the formats that are read.
inline constexpr const char* readable_formats =
    ".h5m, Gmsh .msh 4.1, 2.2 and 1.0, Medit .mesh and .meshb, VTK .vtk and .vtu, Exodus II, CF netCDF grids, CGNS on "
    "HDF5";

/// Find out the format of a file by its contents. Local.
/// @throws Error{failed} if it cannot be read, {bad_input} if it is of no known format
Format detect_format(const std::string& path);

/// The tag by which programs find the parts of a .h5m file.
inline constexpr const char* default_partition_tag = "PARALLEL_PARTITION";

struct TableOptions {
  std::vector<std::string> without_tags = {};  ///< tags to leave out; "*" leaves out all
  /// The tag that marks the parts to be used: a .h5m file may have several partitions. It is on sets, or an integer
  /// of 32 or 64 bits on cells, whose values are the parts. The others stay what they are in the file.
  std::string partition_tag = default_partition_tag;
  /// Take a file without that tag as one without a partition; for the default name that is always so.
  bool may_lack_partition_tag = false;
  /// Cut cells of second order to their corners, and say how many nodes that drops; see `mesh::to_linear`.
  bool to_linear = false;
  /// What to do about cells with one vertex at two corners; either way they are counted in the log. Sides, neighbours
  /// and solvers need distinct corners, so such cells are reduced unless the numbers of cells must stay.
  mesh::Degenerate degenerate = mesh::Degenerate::reduce;
};

/// Read a mesh file into tables, each rank its slabs. Collective. Reads .h5m, Gmsh 4.1, 2.2 and 1.0, Medit 1 to 4,
/// legacy VTK, VTU (text and binary), Exodus II (classic netCDF and netCDF-4), grids of longitudes and latitudes by the
/// CF conventions (the same; see `read_structured` too) and CGNS (on HDF5).
///
/// Cells with one vertex at two corners are reduced or kept, see `TableOptions::degenerate`. Poly-lines and triangle
/// strips of VTK files become edges and triangles, which have the tags of the cell they were part of.
///
/// The vertices of such a grid of longitudes and latitudes have the file's numbers (longitude, latitude, level) as
/// coordinates, in its order, the longitude running fastest; the third is 0 without levels. Cells are hexes, or quads
/// if there are fewer than two levels. Where the longitudes go round, the mesh stays open between the last and the
/// first one: a cell there would reach back over the whole map. Variables over (level, latitude, longitude) become tags
/// on the vertices, those over (latitude, longitude) on each level, of a time series the last step; packed numbers are
/// unpacked, missing values of reals are NaN.
/// @throws AgreedError{bad_input} naming the file and what is wrong or not supported; {failed} if it cannot be read;
/// {usage} for a partition tag that the file does not have, with the ones it has, and for one that is no partition: ids
/// Cost: each byte of the file is read once; memory O(slab) plus the list of sets.
mesh::MeshTables read_tables(mpi::Context& context, const std::string& path, const TableOptions& options = {});

struct ReadOptions {
  int ghost_layers = 0;  ///< as in mesh::BuildOptions, the next four too
  mesh::Dim bridge = mesh::Dim::vertex;
  bool ghost_sides = false;
  std::vector<std::string> ghost_sets = {};
  std::vector<Rank> ghost_ranks = {};
  /// Tags to leave out; "*" leaves out all. GLOBAL_ID mostly repeats the order of the file.
  std::vector<std::string> without_tags = {"GLOBAL_ID"};
  /// Used if the file has no partition; then there are as many parts as ranks. Any name that `mesh::partition_cells`
  /// knows. "rcb" needs the least time and memory and suits most; "hilbert" where the mesh is read again and again
  /// while it changes a little; "ptscotch" cuts fewest sides, where the solver runs long enough to win back its time;
  /// "metis" suits meshes whose graph one rank can hold.
  std::string partitioner = "rcb";
  std::string partition_tag = default_partition_tag;  ///< as in TableOptions, the next two too
  bool to_linear = false;
  mesh::Degenerate degenerate = mesh::Degenerate::reduce;
};

/// Read a mesh file and build the distributed mesh. Collective.
/// Parts stored in the file go to ranks in contiguous slices, whatever their number: with more ranks than parts some
/// ranks stay empty, which is said in the log.
/// @throws AgreedError as read_tables and Mesh
mesh::Mesh read(mpi::Context& context, const std::string& path, ReadOptions options = {});

}  // namespace barrio::io
