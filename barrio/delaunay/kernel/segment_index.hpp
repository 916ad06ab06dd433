#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Index of the segments of the input by their ends. An edge on a segment has an added vertex that stores the segment,
/// or both its ends are those of the segment. Cost: linear in the vertices of the input and the segments
class SegmentIndex {
 public:
  explicit SegmentIndex(const Triangulation& mesh);

  /// Find the segment that an edge is a piece of. @return its number, or `no_segment` for an edge of a filled hull.
  /// Cost: linear in the segments at the end that has fewer; over all edges of a planar graph, linear in their number
  [[nodiscard]] std::uint32_t find(std::int32_t a, std::int32_t b) const noexcept;
  /// Return the segments that end at a vertex, in the order of their numbers.
  [[nodiscard]] std::span<const std::uint32_t> at(std::int32_t vertex) const noexcept {
    if (vertex >= n_vertices()) return {};
    return std::span(segments_).subspan(first_[vertex], first_[vertex + 1] - first_[vertex]);
  }
  /// Return the number of vertices up to the last one that ends a segment.
  [[nodiscard]] std::int32_t n_vertices() const noexcept { return static_cast<std::int32_t>(first_.size()) - 1; }
  /// Return the other end of a segment that ends at a vertex.
  [[nodiscard]] std::int32_t other_end(std::uint32_t segment, std::int32_t vertex) const noexcept {
    const auto& ends = mesh_->segments[segment].ends;
    return ends[0] == vertex ? ends[1] : ends[0];
  }

 private:
  const Triangulation* mesh_;
  std::vector<std::uint32_t> first_;     // of a vertex in `segments_`
  std::vector<std::uint32_t> segments_;  // by vertex
};

}  // namespace barrio::delaunay::detail
