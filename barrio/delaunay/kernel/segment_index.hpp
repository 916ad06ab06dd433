#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Index of the segments of the input by their ends. An edge on a segment has an added vertex that stores the segment,
/// or both its ends are those of the segment.
class SegmentIndex {
 public:
  explicit SegmentIndex(const Triangulation& mesh);

  /// Find the segment that an edge is a piece of. @return its number, or `no_segment` for an edge of a filled hull
  [[nodiscard]] std::uint32_t find(std::int32_t a, std::int32_t b) const noexcept;

 private:
  const Triangulation* mesh_;
  std::vector<std::uint32_t> by_ends_;
};

}  // namespace barrio::delaunay::detail
