#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::delaunay::detail {

/// Piece of a segment in a graph whose pieces meet at their ends only, and the regions that end there.
struct BorderPiece {
  /// Change of the number of times that a region covers the plane, from the right of the piece to its left.
  struct Step {
    std::int32_t region = 0;
    std::int32_t by = 0;
    auto operator<=>(const Step&) const = default;
  };
  std::array<std::int32_t, 2> ends{};
  std::vector<Step> steps = {};
};

/// Regions on the sides of pieces.
struct Coverage {
  std::vector<std::array<std::int32_t, 2>> sides;  ///< left and right of each piece
  std::map<std::int32_t, double> areas;            ///< of regions that have any
  std::map<std::int32_t, double> inverted;         ///< area on the outer side of a region's border alone
  std::map<std::pair<std::int32_t, std::int32_t>, double> overlaps;  ///< area that two regions cover; the first has it
};

/// Find the region of each part of the plane between pieces. Where several regions cover a part, it belongs to the one
/// with the lowest number; `no_region` comes last. A region covers a part if its border runs around it more often with
/// the region on its inner side than on its outer side. Local.
/// @param pieces  each pair of ends at most once
/// @throws Error{bad_input} if the borders of a region do not close, or if all points lie on a line
[[nodiscard]] Coverage cover(std::span<const Point> points, std::span<const BorderPiece> pieces);

}  // namespace barrio::delaunay::detail
