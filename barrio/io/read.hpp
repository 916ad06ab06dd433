#pragma once

#include <string>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::io {

/// Mesh file formats that barrio knows.
enum class Format { h5m, gmsh, exodus, cgns, vtkhdf };

/// Find out the format of a file by its contents. Local.
/// @throws Error{failed} if it cannot be read, {bad_input} if it is of no known format
Format detect_format(const std::string& path);

/// Read a mesh file into tables, each rank its slabs. Collective. Reads .h5m, Gmsh 4.1 (text and binary), Exodus II
/// (classic netCDF and netCDF-4) and CGNS (on HDF5).
/// @throws AgreedError{bad_input} naming the file and what is wrong or not supported; {failed} if it cannot be read
/// @param without_tags  tags of a .h5m or Exodus file to leave out; "*" leaves out all
/// Cost: each byte of the file is read once; memory O(slab) plus the list of sets.
mesh::MeshTables read_tables(mpi::Context& context, const std::string& path,
                             const std::vector<std::string>& without_tags = {});

struct ReadOptions {
  int ghost_layers = 0;
  /// Tags of a .h5m or Exodus file to leave out; "*" leaves out all. GLOBAL_ID mostly repeats the order of the file.
  std::vector<std::string> without_tags = {"GLOBAL_ID"};
  std::string partitioner = "rcb";  ///< used if the file has no partition; then there are as many parts as ranks
};

/// Read a mesh file and build the distributed mesh. Collective.
/// Parts stored in the file go to ranks in contiguous slices, whatever their number: with more ranks than parts some
/// ranks stay empty, which is said in the log.
/// @throws AgreedError as read_tables and Mesh
mesh::Mesh read(mpi::Context& context, const std::string& path, ReadOptions options = {});

}  // namespace barrio::io
