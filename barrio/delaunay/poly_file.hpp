#pragma once

#include <string>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// What a .poly file holds, and what of it a graph has no place for.
struct PolyFile {
  PlanarGraph graph;
  std::int64_t first_number = 0;           ///< of points in the file: 0 or 1
  std::vector<std::string> left_out = {};  ///< told to the user: "2 attributes of each point"
};

/// Read a .poly file as Triangle has it: points (or none, then they are in the .node file beside it), segments, holes,
/// and lines of regions: attribute and largest area. A .node file alone is points without segments. Local.
/// @throws Error{failed} if a file cannot be read; {bad_input}, naming the line, for what is not understood
/// Source: Shewchuk 2005, "Triangle: .poly files"
[[nodiscard]] PolyFile read_poly(const std::string& path);

/// Write a .poly file. Local. @throws Error{failed}
void write_poly(const PlanarGraph& graph, const std::string& path);

/// Write triangles and vertices as Triangle does: STEM.node and STEM.ele, with numbers from 1, markers of boundary
/// vertices, and attributes of regions; STEM.poly with the segments. Each file appears when it is complete. Local.
/// @throws Error{failed}. Memory: a buffer
void write_triangle_files(const Triangulation& mesh, const std::string& stem);

}  // namespace barrio::delaunay
