#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "barrio/delaunay/kernel/segment_index.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Angles between input segments at their common ends, where triangles lie between the two. Where one is small, splits
/// of the two segments would provoke each other ever nearer to the end, unless the points lie at the same distances
/// from it.
class SmallAngles {
 public:
  SmallAngles(const Triangulation& mesh, const SegmentIndex& index);
  /// Take angles that were found in the mesh that this one is a part of. @param angles  two for each segment
  SmallAngles(const Triangulation& mesh, std::vector<float> angles) : mesh_(&mesh), angles_(std::move(angles)) {}

  /// Return the angles, two for each segment.
  [[nodiscard]] const std::vector<float>& angles() const noexcept { return angles_; }

  /// Bound of small angles: pi / 3.
  static constexpr float wide = 1.0471976F;
  /// Return the smallest angle of a segment with another one at a vertex, radians; `wide` if it is at least that, or if
  /// the segment does not end there.
  [[nodiscard]] float at(std::uint32_t segment, std::int32_t vertex) const noexcept {
    if (segment == no_segment) return wide;
    const auto& ends = mesh_->segments[segment].ends;
    const std::size_t first = 2 * std::size_t{segment};
    return ends[0] == vertex ? angles_[first] : ends[1] == vertex ? angles_[first + 1] : wide;
  }

 private:
  const Triangulation* mesh_;
  std::vector<float> angles_;  // two for each segment
};

}  // namespace barrio::delaunay::detail
