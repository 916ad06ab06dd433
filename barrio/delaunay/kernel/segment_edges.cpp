#include "barrio/delaunay/segment_edges.hpp"

#include <algorithm>
#include <cstddef>

#include "barrio/delaunay/kernel/segment_index.hpp"

namespace barrio::delaunay {

std::vector<SegmentEdge> segment_edges(const Triangulation& mesh) {
  const detail::SegmentIndex segments(mesh);
  std::vector<SegmentEdge> edges;
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    const Triangle& t = mesh.triangles[row];
    if (!t.is_used()) continue;
    for (std::uint32_t e = 0; e < 3; ++e) {
      if (!t.is_segment(e)) continue;
      if (t.neighbours[e] && t.neighbours[e].triangle() < row) continue;
      SegmentEdge edge{.ends = {t.vertices[next_corner(e)], t.vertices[previous_corner(e)]},
                       .triangle = row,
                       .is_boundary = !t.neighbours[e]};
      if (const std::uint32_t s = segments.find(edge.ends[0], edge.ends[1]); s != no_segment)
        edge.marker = mesh.segments[s].marker;
      edges.push_back(edge);
    }
  }
  return edges;
}

std::vector<std::int32_t> dropped_segments(const Triangulation& mesh) {
  const detail::SegmentIndex segments(mesh);
  std::vector<char> has_edge(mesh.segments.size(), 0);
  for (const SegmentEdge& edge : segment_edges(mesh))
    if (const std::uint32_t s = segments.find(edge.ends[0], edge.ends[1]); s != no_segment) has_edge[s] = 1;
  std::vector<std::int32_t> dropped;
  for (std::size_t s = 0; s < has_edge.size(); ++s)
    if (has_edge[s] == 0 && mesh.segments[s].input >= 0) dropped.push_back(mesh.segments[s].input);
  std::ranges::sort(dropped);
  const auto repeated = std::ranges::unique(dropped);
  dropped.erase(repeated.begin(), repeated.end());
  return dropped;
}

}  // namespace barrio::delaunay
