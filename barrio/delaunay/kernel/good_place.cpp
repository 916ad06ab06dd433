#include "barrio/delaunay/kernel/good_place.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace barrio::delaunay::detail {
namespace {

Point difference(const Point& a, const Point& b) noexcept { return {a[0] - b[0], a[1] - b[1]}; }
double dot(const Point& a, const Point& b) noexcept { return a[0] * b[0] + a[1] * b[1]; }
Point turned_left(const Point& a) noexcept { return {-a[1], a[0]}; }

}  // namespace

GoodPlace::GoodPlace(double min_angle) noexcept : sine_(std::sin(min_angle)), cosine_(std::cos(min_angle)) { clear(); }

void GoodPlace::clear() noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  planes_.clear();
  discs_.clear();
  low_ = {infinity, infinity};
  high_ = {-infinity, -infinity};
}

void GoodPlace::add_side(const Point& a, const Point& b) {
  for (std::size_t d = 0; d < 2; ++d) {
    low_[d] = std::min(low_[d], a[d]);
    high_[d] = std::max(high_[d], a[d]);
  }
  planes_.push_back({a, turned_left(difference(b, a))});
}

void GoodPlace::add(const Point& a, const Point& b, double max_area) {
  add_side(a, b);
  planes_.pop_back();  // the rays below lie within this side
  const Point u = difference(b, a);
  // rays from a and b, turned into the polygon by the min angle
  const Point from_a{cosine_ * u[0] - sine_ * u[1], sine_ * u[0] + cosine_ * u[1]};
  const Point from_b{cosine_ * u[0] + sine_ * u[1], cosine_ * u[1] - sine_ * u[0]};
  planes_.push_back({a, turned_left(from_a)});
  planes_.push_back({b, turned_left(from_b)});
  const double length = std::sqrt(dot(u, u));
  if (std::isfinite(max_area)) {
    const double height = 2 * max_area / dot(u, u);
    planes_.push_back({{a[0] - height * u[1], a[1] + height * u[0]}, {u[1], -u[0]}});
  }
  const double across = 0.5 * cosine_ / sine_;
  discs_.push_back({{a[0] + 0.5 * u[0] - across * u[1], a[1] + 0.5 * u[1] + across * u[0]}, 0.5 * length / sine_});
}

/// Cut the polygon off along a line. Source: Sutherland and Hodgman 1974
void GoodPlace::clip(const HalfPlane& plane) {
  clipped_.clear();
  const std::size_t n = polygon_.size();
  const auto height = [&](std::size_t i) { return dot(plane.normal, difference(polygon_[i], plane.at)); };
  double here = n > 0 ? height(0) : 0.0;
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t j = i + 1 < n ? i + 1 : 0;
    const double next = height(j);
    if (here >= 0) clipped_.push_back(polygon_[i]);
    if ((here >= 0) != (next >= 0)) {
      const double part = here / (here - next);
      clipped_.push_back({polygon_[i][0] + part * (polygon_[j][0] - polygon_[i][0]),
                          polygon_[i][1] + part * (polygon_[j][1] - polygon_[i][1])});
    }
    here = next;
  }
  polygon_.swap(clipped_);
}

std::optional<Point> GoodPlace::centroid() const noexcept {
  if (polygon_.size() < 3) return std::nullopt;
  const Point& a = polygon_[0];
  double area = 0.0;
  Point sum{};
  for (std::size_t i = 1; i + 1 < polygon_.size(); ++i) {
    const Point u = difference(polygon_[i], a);
    const Point v = difference(polygon_[i + 1], a);
    const double part = u[0] * v[1] - u[1] * v[0];
    area += part;
    for (std::size_t d = 0; d < 2; ++d) sum[d] += part * (u[d] + v[d]);
  }
  if (!(area > 0)) return std::nullopt;
  return Point{a[0] + sum[0] / (3 * area), a[1] + sum[1] / (3 * area)};
}

std::optional<Point> GoodPlace::find() {
  polygon_ = {low_, {high_[0], low_[1]}, high_, {low_[0], high_[1]}};
  for (const HalfPlane& plane : planes_) {
    clip(plane);
    if (polygon_.size() < 3) return std::nullopt;
  }
  // cut off what lies beyond a disc, by a tangent between the centroid and the disc, until the centroid is in all
  constexpr int max_cuts = 8;
  for (int cut = 0; cut < max_cuts; ++cut) {
    const std::optional<Point> at = centroid();
    if (!at) return std::nullopt;
    const Disc* farthest = nullptr;
    double worst = 1.0;
    for (const Disc& disc : discs_) {
      const Point way = difference(*at, disc.centre);
      const double squared = dot(way, way) / (disc.radius * disc.radius);
      if (squared <= worst) continue;
      worst = squared;
      farthest = &disc;
    }
    if (farthest == nullptr) return at;
    const Point way = difference(*at, farthest->centre);
    const double part = 1 / std::sqrt(worst);
    clip({{farthest->centre[0] + part * way[0], farthest->centre[1] + part * way[1]}, {-way[0], -way[1]}});
  }
  return std::nullopt;
}

}  // namespace barrio::delaunay::detail
