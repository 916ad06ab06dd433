#pragma once

/// @file Write a triangulation as .h5m or VTKHDF.

#include <string>

#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay {

/// Write a triangulation as .h5m: triangles, edges on segments, and attributes of vertices. Sets hold the markers of
/// segments (NEUMANN_SET) and the regions (MATERIAL_SET, by number, with the attribute in the tag REGION_ATTRIBUTE).
/// Collective.
/// @param mesh  compact, on rank 0; ignored on other ranks
/// @throws AgreedError{failed} if the file cannot be written. Memory: a buffer, and the edges on segments
void write_h5m(mpi::Context& context, const Triangulation& mesh, const std::string& path);

/// Write a triangulation as VTKHDF for ParaView: triangles with their region and its attribute, edges with their
/// marker, attributes of vertices. As write_h5m, but memory: 2^20 triangles, and 4 bytes a vertex.
void write_vtkhdf(mpi::Context& context, const Triangulation& mesh, const std::string& path);

}  // namespace barrio::delaunay
