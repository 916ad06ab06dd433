#pragma once

#include <string>

#include "barrio/delaunay/triangulation.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::delaunay {

/// Write a triangulation: triangles, edges on segments, and as sets the markers of segments (NEUMANN_SET) and regions
/// (MATERIAL_SET, by their numbers, with their attribute in the tag REGION_ATTRIBUTE). Collective.
/// @param mesh  of rank 0, compact; what others give is not looked at
/// @throws AgreedError{failed} if the place cannot be written. Memory: a buffer, and the edges on segments
void write_h5m(mpi::Context& context, const Triangulation& mesh, const std::string& path);

/// The same for ParaView: triangles, with their region and its attribute, and edges with their marker. As write_h5m.
void write_vtkhdf(mpi::Context& context, const Triangulation& mesh, const std::string& path);

}  // namespace barrio::delaunay
