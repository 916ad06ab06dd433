#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// The angles in which input segments meet others at their ends. Where one is small, points on the two segments drive
/// each other on towards the end, unless they lie at the same distances from it.
class SmallAngles {
 public:
  explicit SmallAngles(const Triangulation& mesh);

  /// Angles from here on are not small: pi / 3.
  static constexpr float wide = 1.0471976F;
  /// The smallest angle of a segment with another one at a vertex, radians; `wide` if it is that wide, or if the
  /// segment does not end there.
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
