#include "barrio/delaunay/snapping/seeds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "barrio/base/error.hpp"
#include "barrio/geometry/predicates.hpp"

namespace barrio::delaunay::detail {
namespace {

struct MarkedPart {
  Point place;
  bool is_hole;
};

/// Count how often a closed polygon runs around a position; positions on the polygon count as inside.
bool runs_around(const std::vector<Point>& polygon, const Point& p) {
  int n = 0;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[i + 1 < polygon.size() ? i + 1 : 0];
    if (a[1] <= p[1] && b[1] > p[1] && geometry::orient2d(a, b, p) > 0) ++n;
    if (a[1] > p[1] && b[1] <= p[1] && geometry::orient2d(a, b, p) < 0) --n;
  }
  return n != 0;
}

std::vector<MarkedPart> sorted_parts(const PlanarGraph& graph) {
  std::vector<MarkedPart> seeds;
  for (const Point& hole : graph.holes) seeds.push_back({hole, true});
  for (std::size_t i = 0; i < graph.regions.size() && graph.sides.empty(); ++i)
    seeds.push_back({graph.regions[i].place, false});
  std::ranges::sort(seeds, {}, &MarkedPart::place);
  return seeds;
}

}  // namespace

void check_seeds(const PlanarGraph& graph, std::span<const std::int32_t> rows, const Arrangement& arrangement) {
  const std::vector<MarkedPart> seeds = sorted_parts(graph);
  if (seeds.empty()) return;
  std::vector<std::int32_t> chain;
  for (std::size_t s = 0; s < rows.size(); ++s) {
    const auto& [from, to] = graph.segments[rows[s]].ends;
    arrangement.find_chain(static_cast<std::int32_t>(s), chain);
    // back from the end of the segment along its chain
    std::vector<Point> swept{graph.points[from], graph.points[to]};
    for (auto site = chain.rbegin(); site != chain.rend(); ++site) swept.push_back(arrangement.sites()[*site]);
    if (swept.size() == 4 && swept[0] == swept[3] && swept[1] == swept[2]) continue;
    const auto [low, high] = std::ranges::minmax(swept, {}, [](const Point& p) { return p[0]; });
    const double left = low[0];
    const double right = high[0];
    auto seed = std::ranges::lower_bound(seeds, left, {}, [](const MarkedPart& one) { return one.place[0]; });
    for (; seed != seeds.end() && seed->place[0] <= right; ++seed) {
      if (!runs_around(swept, seed->place)) continue;
      refuse(ErrorCode::bad_input,
             fmt::format("{} ({}, {})", seed->is_hole ? "hole" : "region", seed->place[0], seed->place[1]),
             fmt::format("lies where snapping moves the segment from ({}, {}) to ({}, {}) across it", swept[0][0],
                         swept[0][1], swept[1][0], swept[1][1]),
             "lower the tolerance; or leave the position out if the part around it vanishes, else move it away");
    }
  }
}

}  // namespace barrio::delaunay::detail
