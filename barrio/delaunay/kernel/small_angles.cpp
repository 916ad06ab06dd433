#include "barrio/delaunay/kernel/small_angles.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <tuple>
#include <vector>

namespace barrio::delaunay::detail {
namespace {

/// A segment as seen from one of its ends.
struct Ray {
  std::int32_t vertex;
  double direction;  // radians
  std::size_t end;   // 2 * segment + which
};

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
  const std::vector<char> has_triangle = triangles_on_the_left(mesh, index);
  std::vector<Ray> rays;
  rays.reserve(angles_.size());
  for (std::size_t s = 0; s < mesh.segments.size(); ++s) {
    const auto& ends = mesh.segments[s].ends;
    if (ends[0] < 0 || ends[1] < 0) continue;  // dropped with the area that it bounds
    for (std::size_t e = 0; e < 2; ++e) {
      const Point& from = mesh.point(ends[e]);
      const Point& to = mesh.point(ends[1 - e]);
      rays.push_back({ends[e], std::atan2(to[1] - from[1], to[0] - from[0]), 2 * s + e});
    }
  }
  std::ranges::sort(rays, {}, [](const Ray& ray) { return std::tuple(ray.vertex, ray.direction, ray.end); });
  const auto end_of = [&](const Ray& ray) -> const Point& {
    return mesh.point(mesh.segments[ray.end / 2].ends[1 - ray.end % 2]);
  };
  for (std::size_t first = 0; first < rays.size();) {
    std::size_t last = first + 1;
    while (last < rays.size() && rays[last].vertex == rays[first].vertex) ++last;
    // rounded directions may be equal, or in the wrong order
    for (std::size_t i = first + 1; i < last; ++i)
      for (std::size_t k = i; k > first && rays[k].direction - rays[k - 1].direction < 1e-14 &&
                              geometry::orient2d(mesh.point(rays[k].vertex), end_of(rays[k - 1]), end_of(rays[k])) < 0;
           --k)
        std::swap(rays[k], rays[k - 1]);
    for (std::size_t i = first; i < last && last - first > 1; ++i) {
      if (has_triangle[rays[i].end] == 0) continue;
      const Ray& next = rays[i + 1 < last ? i + 1 : first];
      double angle = next.direction - rays[i].direction;
      if (angle < 0 && i + 1 == last) angle += 2 * std::numbers::pi;
      angle = std::max(angle, 0.0);
      for (const std::size_t end : {rays[i].end, next.end})
        angles_[end] = std::min(angles_[end], static_cast<float>(angle));
    }
    first = last;
  }
}

}  // namespace barrio::delaunay::detail
