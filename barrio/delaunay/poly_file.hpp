#pragma once

/// @file Triangle's files: read .poly and .node; write .poly, .node and .ele.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Contents of a .poly file.
struct PolyFile {
  PlanarGraph graph;                               ///< rows from 0, whatever the numbers in the file
  std::int64_t first_number = 0;                   ///< number of the first point in the file: 0 or 1
  std::vector<std::int64_t> segment_numbers = {};  ///< of each segment in the file
};

/// Read a .poly file in Triangle's format: points (if it has none, those of the .node file beside it), segments, holes,
/// and regions with attribute and max area. A single number of a region is both, as in Triangle. A .node file alone
/// gives points without segments. Local.
/// @throws Error{failed} if a file cannot be read; {bad_input}, naming the line, if one is malformed
/// Source: Shewchuk 2005, "Triangle: .poly files"
[[nodiscard]] PolyFile read_poly(const std::string& path);

/// Write a .poly file. Local. @throws Error{failed}
void write_poly(const PlanarGraph& graph, const std::string& path);

/// Write vertices and triangles in Triangle's format: STEM.node and STEM.ele, with numbers from 1, markers of vertices
/// and attributes of regions; STEM.poly with the segments, a position in each hole and in each part with a region. The
/// files appear when all of them are complete. Local.
/// @throws Error{failed}. Memory: 8 bytes a vertex, with regions 4 bytes a triangle, the edges on segments, a
/// triangulation of the boundary, and a buffer for each file
void write_triangle_files(const Triangulation& mesh, const std::string& stem);

}  // namespace barrio::delaunay
