#include "barrio/delaunay/audit/wanted.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace barrio::delaunay::detail {
namespace {

/// Return a position in a triangle. The positions of successive numbers cover it evenly. Source: Roberts 2018, "The
/// unreasonable effectiveness of quasirandom sequences", R2
Point place_in(const std::array<Point, 3>& t, std::int64_t number) {
  constexpr double first_step = 0.7548776662466927;
  constexpr double second_step = 0.5698402909980532;
  double whole = 0.0;
  double u = std::modf(0.5 + first_step * static_cast<double>(number), &whole);
  double v = std::modf(0.5 + second_step * static_cast<double>(number), &whole);
  if (u + v > 1) {
    u = 1 - u;
    v = 1 - v;
  }
  Point p = t[0];
  for (std::size_t k = 0; k < 2; ++k) p[k] += u * (t[1][k] - t[0][k]) + v * (t[2][k] - t[0][k]);
  return p;
}

}  // namespace

Wanted sample_sizes(const AuditedMesh& mesh, const AuditOptions& options) {
  Wanted found;
  double low[2] = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  double high[2] = {-low[0], -low[1]};
  for (const Point& p : mesh.points)
    for (std::size_t k = 0; k < 2; ++k) {
      low[k] = std::min(low[k], p[k]);
      high[k] = std::max(high[k], p[k]);
    }
  constexpr double usual_samples = 1 << 18;
  const double distance = options.resolution > 0
                              ? options.resolution
                              : std::sqrt(high[0] - low[0]) * std::sqrt(high[1] - low[1]) / std::sqrt(usual_samples);
  const double equilateral = std::sqrt(3.0) / 4;
  for (std::int64_t t = 0; t < std::ssize(mesh.triangles); ++t) {
    std::array<Point, 3> corners{};
    for (std::size_t i = 0; i < 3; ++i) corners[i] = mesh.points[mesh.triangles[t][i]];
    const double area = 0.5 * ((corners[1][0] - corners[0][0]) * (corners[2][1] - corners[0][1]) -
                               (corners[1][1] - corners[0][1]) * (corners[2][0] - corners[0][0]));
    constexpr double min_samples = 4;
    constexpr double max_samples = 1 << 24;
    const auto n =
        static_cast<std::int64_t>(std::clamp(std::ceil(area / distance / distance), min_samples, max_samples));
    double sum = 0.0;
    double smallest = std::numeric_limits<double>::infinity();
    Point where{};
    for (std::int64_t i = 1; i <= n; ++i) {
      const Point place = place_in(corners, i);
      double bound = std::numeric_limits<double>::infinity();
      if (options.area_at) bound = std::min(bound, options.area_at(place));
      if (options.size) {
        const double length = options.size(place);
        bound = std::min(bound, equilateral * length * length);
      }
      sum += area / bound;
      if (bound >= smallest) continue;
      smallest = bound;
      where = place;
    }
    found.n_samples += n;
    const double wanted = sum / static_cast<double>(n);
    if (wanted <= found.max) continue;
    found.max = wanted;
    found.triangle = t;
    found.place = where;
  }
  return found;
}

}  // namespace barrio::delaunay::detail
