#pragma once

/// @file Read a longitude/latitude grid (CF netCDF) as a structured mesh with its fields.

#include <string>
#include <vector>

#include "barrio/mesh/structured.hpp"

namespace barrio::io {

/// Options of `read_structured()`; the same on all ranks.
struct StructuredReadOptions {
  mesh::Decomposition decomposition = mesh::Decomposition::sqijk;  ///< of the cells over ranks
  int ghost_layers = 0;                                            ///< layers of ghost cells around each rank's box
  std::vector<std::string> fields = {"*"};  ///< variables to read, by name; "*": all over latitudes and longitudes
  int step = 0;                             ///< time step to read, from 1; 0: the last one
};

/// Values on the vertices of a rank's box.
struct StructuredField {
  std::string name;            ///< of the variable in the file
  std::vector<double> values;  ///< shape (mesh.own_vertices().size()); NaN where the file marks a missing value
};

/// A structured mesh from a file, with its fields.
struct StructuredGrid {
  mesh::StructuredMesh mesh;            ///< distributed over the ranks of the context that read it
  std::vector<StructuredField> fields;  ///< in the file's order, for netCDF-4 by name; the same list on every rank
};

/// Read a netCDF grid of longitudes, latitudes and levels (CF conventions) as a structured mesh: i runs along the
/// longitudes, j along the latitudes, k along the levels, in the file's order, ascending or descending. Collective.
/// If the longitudes are periodic, so is the mesh along i: the last column of cells ends at the first longitude plus
/// 360. A grid of fewer than two levels becomes one layer of cells, one unit thick, with the same values on both sides.
/// Fields over (latitude, longitude) are repeated on each level; of a time series one step is read.
/// Each rank reads the vertices of its own cells only; rank 0 alone reads the axes and the list of variables.
/// @throws AgreedError{bad_input} naming the file and the variable; {usage} for a field that the file does not have,
/// with a list of those it has, and as StructuredMesh
/// Cost: memory O(own vertices x fields + points along the axes).
/// Source: Tautges et al. 2012, section VI.
StructuredGrid read_structured(mpi::Context& context, const std::string& path,
                               const StructuredReadOptions& options = {});

}  // namespace barrio::io
