#include "barrio/delaunay/audit/angles.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace barrio::delaunay::detail {

Audit::Check AngleCheck::run(double min_angle) {
  constexpr double rounding = 1e-6;
  std::int64_t n_below = 0;
  std::int64_t n_explained = 0;
  std::string fault;
  for (std::size_t t = 0; t < mesh_->triangles.size(); ++t) {
    const auto [angle, where] = smallest_of(t);
    smallest_ = std::min(smallest_, angle);
    if (angle >= min_angle - rounding) continue;
    ++n_below;
    if (is_at_small_angle(t, where)) {
      ++n_explained;
    } else if (fault.empty()) {
      const Point& p = corner(t, where);
      fault = fmt::format("triangle {} has {:.4f} degrees at ({:.9g}, {:.9g})", t, angle, p[0], p[1]);
    }
  }
  return {"angles", fault.empty(),
          fault.empty() ? fmt::format("min {:.4f} degrees; {} below {:g} where segments meet in small angles",
                                      smallest_, n_explained, min_angle)
                        : fmt::format("{}, and {} more", fault, n_below - n_explained - 1)};
}

/// Return the smallest angle of a triangle in degrees, and its corner.
std::pair<double, std::size_t> AngleCheck::smallest_of(std::size_t triangle) const {
  std::pair<double, std::size_t> found{180.0, 0};
  for (std::size_t i = 0; i < 3; ++i) {
    const Point& p = corner(triangle, i);
    const Point& q = corner(triangle, i + 1);
    const Point& r = corner(triangle, i + 2);
    const double cross = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
    const double dot = (q[0] - p[0]) * (r[0] - p[0]) + (q[1] - p[1]) * (r[1] - p[1]);
    const double angle = std::atan2(cross, dot) * 180 / std::numbers::pi;
    if (angle < found.first) found = {angle, i};
  }
  return found;
}

/// Return the segments that a vertex lies on, ends included.
std::vector<std::uint32_t> AngleCheck::segments_at(std::int32_t v) const {
  std::vector<std::uint32_t> found;
  const auto [first, last] =
      std::ranges::equal_range(pieces_at_, v, {}, &std::pair<std::int32_t, std::uint32_t>::first);
  for (auto i = first; i != last; ++i) found.push_back(i->second);
  return found;
}

/// Tell whether the angle at a corner lies opposite an edge that joins two segments which meet in a small angle. No
/// points can make such an angle larger.
bool AngleCheck::is_at_small_angle(std::size_t triangle, std::size_t i) {
  if (pieces_at_.empty()) {
    for (const Chains::Piece& piece : chains_->pieces()) {
      pieces_at_.emplace_back(piece.from, piece.segment);
      pieces_at_.emplace_back(piece.to, piece.segment);
    }
    std::ranges::sort(pieces_at_);
  }
  const auto& vertices = mesh_->triangles[triangle];
  for (const std::uint32_t s : segments_at(vertices[(i + 1) % 3]))
    for (const std::uint32_t r : segments_at(vertices[(i + 2) % 3]))
      if (s != r && meet_in_small_angle(s, r)) return true;
  return false;
}

/// Tell whether an end of a segment lies inside another one.
bool AngleCheck::touches(std::uint32_t s, std::uint32_t r) const {
  const Point& a = end_of(r, 0);
  const Point& b = end_of(r, 1);
  for (std::size_t e = 0; e < 2; ++e) {
    const Point& p = end_of(s, e);
    const double along = (p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1]);
    const double whole = (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]);
    if (along > 0 && along < whole && signs_->orientation(a, b, p) == 0) return true;
  }
  return false;
}

bool AngleCheck::meet_in_small_angle(std::uint32_t s, std::uint32_t r) const {
  constexpr double small = std::numbers::pi / 3 + 1e-9;
  const auto along = [&](std::uint32_t segment, std::size_t from) {
    const Point& a = end_of(segment, from);
    const Point& b = end_of(segment, 1 - from);
    return Point{b[0] - a[0], b[1] - a[1]};
  };
  const auto is_small = [&](const Point& u, const Point& v, bool either_way) {
    const double cross = u[0] * v[1] - u[1] * v[0];
    const double dot = u[0] * v[0] + u[1] * v[1];
    return std::atan2(std::abs(cross), either_way ? std::abs(dot) : dot) <= small;
  };
  // segments on one line, such as a side of the hull and a segment along it, meet in no angle
  const auto is_on_line = [&](std::size_t e) {
    return signs_->orientation(end_of(s, 0), end_of(s, 1), end_of(r, e)) == 0;
  };
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t k = 0; k < 2; ++k)
      if (end_of(s, i) == end_of(r, k))
        return is_small(along(s, i), along(r, k), false) && !(is_on_line(0) && is_on_line(1));
  if (!touches(s, r) && !touches(r, s)) return false;
  return is_small(along(s, 0), along(r, 0), true) && !(is_on_line(0) && is_on_line(1));
}

}  // namespace barrio::delaunay::detail
