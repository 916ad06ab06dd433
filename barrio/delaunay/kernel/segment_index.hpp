#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Find the segment of the input that an edge is a piece of: a vertex in its middle knows, and else both ends are ends
/// of the segment. Keeps a list of segments by their ends.
class SegmentIndex {
 public:
  explicit SegmentIndex(const Triangulation& mesh);

  /// @return its number, or `no_segment` for an edge of a hull that was filled
  [[nodiscard]] std::uint32_t find(std::int32_t a, std::int32_t b) const noexcept;

 private:
  const Triangulation* mesh_;
  std::vector<std::uint32_t> by_ends_;
};

}  // namespace barrio::delaunay::detail
