#include "barrio/delaunay/kernel/small_angles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <utility>
#include <vector>

namespace barrio::delaunay::detail {
namespace {

/// A segment as seen from one of its ends.
struct Ray {
  double direction;  // radians
  std::size_t end;   // 2 * segment + which
  const Point* to;
};

/// Tell whether two directions enclose less than `SmallAngles::wide`, or about that.
bool is_about_small(const Point& from, const Point& a, const Point& b) noexcept {
  const Point u{a[0] - from[0], a[1] - from[1]};
  const Point v{b[0] - from[0], b[1] - from[1]};
  const double dot = u[0] * v[0] + u[1] * v[1];
  constexpr double cosine_squared = 0.2499;  // of pi / 3: 0.25
  return dot > 0 && dot * dot >= cosine_squared * (u[0] * u[0] + u[1] * u[1]) * (v[0] * v[0] + v[1] * v[1]);
}

/// Tell for each end of a segment whether there is a triangle on the left of the segment, as seen from that end.
std::vector<char> triangles_on_the_left(const Triangulation& mesh, const SegmentIndex& index) {
  std::vector<char> is_left(2 * mesh.segments.size(), 0);
  for (const Triangle& t : mesh.triangles.items()) {
    for (std::uint32_t e = 0; t.is_used() && e < 3; ++e) {
      if (!t.is_segment(e)) continue;
      const std::int32_t from = t.vertices[next_corner(e)];
      const std::uint32_t segment = index.find(from, t.vertices[previous_corner(e)]);
      if (segment == no_segment) continue;
      for (std::size_t end = 0; end < 2; ++end)
        if (mesh.segments[segment].ends[end] == from) is_left[2 * std::size_t{segment} + end] = 1;
    }
  }
  return is_left;
}

}  // namespace

SmallAngles::SmallAngles(const Triangulation& mesh, const SegmentIndex& index)
    : mesh_(&mesh), angles_(2 * mesh.segments.size(), wide) {
  std::vector<char> has_triangle;  // on the left of an end; made for the first small angle
  std::vector<Ray> rays;
  for (std::int32_t v = 0; v < index.n_vertices(); ++v) {
    const auto segments = index.at(v);
    if (segments.size() < 2) continue;
    const Point& from = mesh.point(v);
    const auto to = [&](std::uint32_t s) -> const Point& { return mesh.point(index.other_end(s, v)); };
    if (segments.size() == 2 && !is_about_small(from, to(segments[0]), to(segments[1]))) continue;
    rays.clear();
    for (const std::uint32_t s : segments) {
      const Point& p = to(s);
      const std::size_t which = mesh.segments[s].ends[0] == v ? 0 : 1;
      rays.push_back({std::atan2(p[1] - from[1], p[0] - from[0]), 2 * std::size_t{s} + which, &p});
    }
    std::ranges::sort(rays, {}, [](const Ray& ray) { return std::pair(ray.direction, ray.end); });
    // rounded directions may be equal, or in the wrong order
    for (std::size_t i = 1; i < rays.size(); ++i)
      for (std::size_t k = i; k > 0 && rays[k].direction - rays[k - 1].direction < 1e-14 &&
                              geometry::orient2d(from, *rays[k - 1].to, *rays[k].to) < 0;
           --k)
        std::swap(rays[k], rays[k - 1]);
    for (std::size_t i = 0; i < rays.size(); ++i) {
      const bool is_last = i + 1 == rays.size();
      const Ray& next = rays[is_last ? 0 : i + 1];
      double angle = next.direction - rays[i].direction;
      if (angle < 0 && is_last) angle += 2 * std::numbers::pi;
      const auto rounded = static_cast<float>(std::max(angle, 0.0));
      if (rounded >= wide) continue;
      if (has_triangle.empty()) has_triangle = triangles_on_the_left(mesh, index);
      if (has_triangle[rays[i].end] == 0) continue;
      for (const std::size_t end : {rays[i].end, next.end}) angles_[end] = std::min(angles_[end], rounded);
    }
  }
}

}  // namespace barrio::delaunay::detail
