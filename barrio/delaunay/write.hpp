#pragma once

/// @file Write a triangulation as .h5m, VTKHDF, Gmsh, .vtu or Triangle's files.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay {

/// Write a triangulation as .h5m: triangles, edges on segments, and attributes of vertices. Sets hold the markers of
/// segments (NEUMANN_SET) and the regions (MATERIAL_SET, by number, with the attribute in the tag REGION_ATTRIBUTE),
/// with their names. Names are cut to the 32 bytes that the format has for them, and the log tells.
/// Collective.
/// @param mesh  compact, on rank 0; ignored on other ranks
/// @throws AgreedError{failed} if the file cannot be written. Memory: a buffer, and the edges on segments
void write_h5m(mpi::Context& context, const Triangulation& mesh, const std::string& path);

/// Write a triangulation as VTKHDF for ParaView: triangles with their region and its attribute, edges with their
/// marker, attributes of vertices. As write_h5m, but memory: 2^20 triangles, and 4 bytes a vertex.
void write_vtkhdf(mpi::Context& context, const Triangulation& mesh, const std::string& path);

/// Write a triangulation in parts as .h5m, each rank its own parts. The file has what that of a whole triangulation
/// has, and a set with the tag PARALLEL_PARTITION for each part; it does not depend on the number of ranks. Collective.
/// @throws as write_h5m. Memory: 4 bytes a vertex of a part. Cost: a few reductions of one number for each region and
/// marker, and one message to each rank with an adjacent part
void write_h5m(mpi::Context& context, const PartedTriangulation& parted, const std::string& path);

/// Write a triangulation in parts as VTKHDF, each part as pieces with points of their own and the number of the part on
/// cells. As write_h5m.
void write_vtkhdf(mpi::Context& context, const PartedTriangulation& parted, const std::string& path);

/// Write a triangulation as a text file of Gmsh, version 4.1: regions and markers above 0 as physical groups with their
/// names, attributes of vertices as $NodeData, those of regions as $ElementData. Vectors get the 3 or 9 components that
/// the format has, with zeros. Local. The file appears when it is complete.
/// @param mesh  compact
/// @throws Error{failed} if the file cannot be written. Memory: a buffer, the edges on segments, and 4 bytes a vertex
/// Source: Gmsh reference manual, "MSH file format"
void write_gmsh(const Triangulation& mesh, const std::string& path);

/// Write a triangulation as an unstructured grid of VTK's XML (.vtu), with raw binary data and the arrays of
/// write_vtkhdf. Local. The file appears when it is complete.
/// @param mesh  compact
/// @throws Error{failed} if the file cannot be written. Memory: a buffer, and the edges on segments
void write_vtu(const Triangulation& mesh, const std::string& path);

/// Formats of triangulations.
enum class TriangulationFormat {
  h5m,       ///< MOAB's, .h5m: see `write_h5m`
  vtkhdf,    ///< for ParaView, .vtkhdf: see `write_vtkhdf`
  triangle,  ///< Triangle's .ele, .node and .poly: see `write_triangle_files`
  gmsh,      ///< Gmsh 4.1, .msh: see `write_gmsh`
  vtu,       ///< VTK's XML, .vtu: see `write_vtu`
};

/// Suffixes that `write` knows, for messages and help.
inline constexpr const char* triangulation_suffixes =
    ".h5m, .vtkhdf, .vtu, .msh or .ele (with .node and .poly beside it)";

/// Choose the format by the suffix of a path. Local. @throws Error{usage} for any other suffix
[[nodiscard]] TriangulationFormat triangulation_format(const std::string& path);

/// List the files that `write` makes for a path. Local. @throws as triangulation_format
[[nodiscard]] std::vector<std::string> written_files(const std::string& path);

/// Write a triangulation in the format of the suffix. Collective. @param mesh  compact, on rank 0; ignored on others
/// @throws AgreedError{usage} as triangulation_format, {failed} if a file cannot be written
void write(mpi::Context& context, const Triangulation& mesh, const std::string& path);

/// Write a triangulation in parts in the format of the suffix: .h5m or .vtkhdf. Collective.
/// @throws AgreedError{usage} for any other, {failed} if the file cannot be written
void write(mpi::Context& context, const PartedTriangulation& parted, const std::string& path);

/// Write a triangulation in the format of the suffix, on this rank alone. Local.
/// @throws Error{usage} as triangulation_format, and for .h5m and .vtkhdf, which need MPI; {failed} if a file cannot be
/// written
void write_local(const Triangulation& mesh, const std::string& path);

/// Count the names of regions and markers that a format cannot hold. Local.
[[nodiscard]] std::int64_t n_names_lost(const Triangulation& mesh, TriangulationFormat format) noexcept;

}  // namespace barrio::delaunay
