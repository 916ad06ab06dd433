#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/size/box_tree.hpp"
#include "barrio/delaunay/size/core.hpp"

namespace barrio::delaunay {
namespace {

/// Return the cross product of ab and ac: twice the area of the triangle.
double cross(const Point& a, const Point& b, const Point& c) noexcept {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

double double_area_of(const std::vector<Point>& polygon) noexcept {
  double sum = 0.0;
  for (std::size_t i = 1; i + 1 < polygon.size(); ++i) sum += cross(polygon[0], polygon[i], polygon[i + 1]);
  return std::abs(sum);
}

/// Return the part of a triangle in another one, which runs counterclockwise. Source: Sutherland and Hodgman 1974
std::vector<Point> common_part(const SizeField::Corners& triangle, const SizeField::Corners& other) {
  std::vector<Point> part(triangle.begin(), triangle.end());
  std::vector<Point> kept;
  for (std::size_t e = 0; e < 3; ++e) {
    const Point& a = other[e];
    const Point& b = other[(e + 1) % 3];
    kept.clear();
    for (std::size_t i = 0; i < part.size(); ++i) {
      const Point& p = part[i];
      const Point& q = part[(i + 1) % part.size()];
      const double at_p = cross(a, b, p);
      const double at_q = cross(a, b, q);
      if (at_p >= 0) kept.push_back(p);
      if ((at_p >= 0) == (at_q >= 0)) continue;
      const double along = at_p / (at_p - at_q);
      kept.push_back({p[0] + along * (q[0] - p[0]), p[1] + along * (q[1] - p[1])});
    }
    part.swap(kept);
  }
  return part;
}

/// Field on the triangles of a background mesh: linear in each, by its values at their corners.
class BackgroundCore final : public SizeField::Core {
 public:
  struct Item {
    SizeField::Corners corners;  // counterclockwise
    std::array<double, 3> sizes;
  };
  explicit BackgroundCore(std::vector<Item> items) : items_(std::move(items)) {
    std::vector<Rectangle> boxes;
    std::vector<double> lowest;
    for (const Item& item : items_) {
      boxes.push_back(bounding_rectangle(item.corners));
      lowest.push_back(std::ranges::min(item.sizes));
    }
    tree_ = detail::BoxTree(boxes, lowest);
  }

  [[nodiscard]] double at(const Point& place) const override {
    const auto distance = [&](std::uint32_t i) { return closest(items_[i], place).second; };
    return value_at(items_[tree_.nearest(place, distance).first], place);
  }
  [[nodiscard]] bool is_below(const SizeField::Corners& corners, double length) const override {
    // rounding may give triangles on both sides of an edge a common part
    constexpr double negligible = 1e-9;
    const double whole = std::abs(cross(corners[0], corners[1], corners[2]));
    return tree_.any(bounding_rectangle(corners), length, [&](std::uint32_t i) {
      const std::vector<Point> part = common_part(corners, items_[i].corners);
      if (!(double_area_of(part) > negligible * whole)) return false;
      return std::ranges::any_of(part, [&](const Point& p) { return value_at(items_[i], p) < length; });
    });
  }
  [[nodiscard]] std::shared_ptr<const Core> limited(double growth, const Rectangle& domain) const override {
    std::vector<Point> places;
    for (const Item& item : items_) {
      places.push_back(centroid_of(item));
      if (item.sizes[0] != item.sizes[1] || item.sizes[0] != item.sizes[2])
        places.insert(places.end(), item.corners.begin(), item.corners.end());
    }
    const auto size = [self = shared_from_this()](const Point& place) { return self->at(place); };
    return smallest_size(
               {SizeField(shared_from_this()), SizeField(detail::limit_by_samples(size, growth, domain, places))})
        .core();
  }

 private:
  static Point centroid_of(const Item& item) noexcept {
    Point sum{};
    for (const Point& p : item.corners)
      for (std::size_t k = 0; k < 2; ++k) sum[k] += p[k] / 3;
    return sum;
  }
  /// Return the weights of the corners at the point of a triangle that is closest to a position, and its squared
  /// distance.
  static std::pair<std::array<double, 3>, double> closest(const Item& item, const Point& p) noexcept {
    const auto& [a, b, c] = item.corners;
    const double whole = cross(a, b, c);
    const std::array<double, 3> weights{cross(b, c, p) / whole, cross(c, a, p) / whole, cross(a, b, p) / whole};
    std::pair<std::array<double, 3>, double> best{weights, 0.0};
    if (std::ranges::min(weights) >= 0) return best;
    best.second = std::numeric_limits<double>::infinity();
    for (std::size_t e = 0; e < 3; ++e) {
      const std::size_t from = e;
      const std::size_t to = (e + 1) % 3;
      const Point& q = item.corners[from];
      const Point& r = item.corners[to];
      const Point u{r[0] - q[0], r[1] - q[1]};
      const double along =
          std::clamp((u[0] * (p[0] - q[0]) + u[1] * (p[1] - q[1])) / (u[0] * u[0] + u[1] * u[1]), 0.0, 1.0);
      const double x = q[0] + along * u[0] - p[0];
      const double y = q[1] + along * u[1] - p[1];
      if (x * x + y * y >= best.second) continue;
      best = {{}, x * x + y * y};
      best.first[from] = 1 - along;
      best.first[to] = along;
    }
    return best;
  }
  static double value_at(const Item& item, const Point& place) noexcept {
    if (item.sizes[0] == item.sizes[1] && item.sizes[0] == item.sizes[2]) return item.sizes[0];
    const std::array<double, 3> weights = closest(item, place).first;
    return weights[0] * item.sizes[0] + weights[1] * item.sizes[1] + weights[2] * item.sizes[2];
  }

  std::vector<Item> items_;
  detail::BoxTree tree_;
};

/// Return the corners of a triangle of a background mesh, counterclockwise, and whether their order has changed.
std::pair<SizeField::Corners, bool> corners_of(const Background& mesh, std::size_t t) {
  SizeField::Corners corners{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int32_t v = mesh.triangles[t][i];
    if (v < 0 || v >= std::ssize(mesh.points))
      refuse(ErrorCode::bad_input, fmt::format("triangle {} of the background mesh", t),
             fmt::format("has the vertex {}, but there are {} vertices", v, mesh.points.size()),
             "number vertices from 0");
    corners[i] = mesh.points[v];
  }
  const double area = cross(corners[0], corners[1], corners[2]);
  if (!std::isfinite(area) || area == 0.0)
    refuse(ErrorCode::bad_input,
           fmt::format("triangle {} of the background mesh at ({:g}, {:g})", t, corners[0][0], corners[0][1]),
           "has no area", "remove triangles whose corners lie on one line");
  if (area < 0) std::swap(corners[1], corners[2]);
  return {corners, area < 0};
}

void check_count(const char* what, std::size_t n, std::size_t n_wanted, const Background& mesh) {
  if (mesh.triangles.empty())
    refuse(ErrorCode::usage, "background mesh", "has no triangles", "give the triangles that sizes belong to");
  if (n != n_wanted)
    refuse(ErrorCode::usage, fmt::format("{} {}", n, what), fmt::format("must be {}", n_wanted), "give one for each");
}

}  // namespace

SizeField size_on_mesh(const Background& mesh, std::span<const double> sizes) {
  check_count("sizes at vertices of the background mesh", sizes.size(), mesh.points.size(), mesh);
  std::vector<BackgroundCore::Item> items;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    auto [corners, is_turned] = corners_of(mesh, t);
    std::array<double, 3> of_corners{};
    for (std::size_t i = 0; i < 3; ++i) {
      const std::int32_t v = mesh.triangles[t][i];
      of_corners[i] = sizes[v];
      if (!(sizes[v] > 0) || !std::isfinite(sizes[v]))
        refuse(ErrorCode::bad_input, fmt::format("size at vertex {} of the background mesh", v),
               fmt::format("is {:g}", sizes[v]), "sizes must be above 0");
    }
    if (is_turned) std::swap(of_corners[1], of_corners[2]);
    items.push_back({corners, of_corners});
  }
  return SizeField(std::make_shared<BackgroundCore>(std::move(items)));
}

SizeField size_of_areas(const Background& mesh, std::span<const double> areas) {
  check_count("areas of triangles of the background mesh", areas.size(), mesh.triangles.size(), mesh);
  std::vector<BackgroundCore::Item> items;
  for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
    if (std::isnan(areas[t]))
      refuse(ErrorCode::bad_input, fmt::format("area of triangle {} of the background mesh", t), "is not a number",
             "give 0 or below for no bound");
    const double size = areas[t] > 0 ? size_of_area(areas[t]) : std::numeric_limits<double>::infinity();
    items.push_back({corners_of(mesh, t).first, {size, size, size}});
  }
  return SizeField(std::make_shared<BackgroundCore>(std::move(items)));
}

}  // namespace barrio::delaunay
