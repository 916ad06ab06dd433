#pragma once

/// @file Edges of triangles that lie on segments, with their markers.

#include <array>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// An edge of triangles on a segment of the input, or on the boundary of a filled hull.
struct SegmentEdge {
  std::array<std::int32_t, 2> ends{};  ///< vertices; the triangle of a boundary edge lies on its left
  std::int32_t triangle = 0;           ///< row of a triangle that has it
  std::int32_t marker = 0;             ///< of the segment
  bool is_boundary = false;            ///< only one triangle has it
};

/// List the edges on segments, each once, in the order of triangles. Local. Cost: a pass over triangles, and
/// O(log segments) an edge
[[nodiscard]] std::vector<SegmentEdge> segment_edges(const Triangulation& mesh);

/// List the segments of the input that have no edges, in whole or in part: they lie outside or in holes. Ascending
/// positions in the input. Local. Cost: as segment_edges
[[nodiscard]] std::vector<std::int32_t> dropped_segments(const Triangulation& mesh);

}  // namespace barrio::delaunay
