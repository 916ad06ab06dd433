#pragma once

#include <array>
#include <optional>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Search for a position within a polygon from which all its edges are seen in triangles without small angles or large
/// areas. Each edge allows an intersection of half-planes and a disc, which is convex; the centroid of what is left is
/// taken. Source: Erten and Uengoer 2009, "Quality triangulations with locally optimal Steiner points"
class GoodPlace {
 public:
  /// @param min_angle  radians
  explicit GoodPlace(double min_angle) noexcept;

  void clear() noexcept;
  /// Add an edge whose triangle may be of any shape, counterclockwise.
  void add_side(const Point& a, const Point& b);
  /// Add an edge of the polygon, counterclockwise. @param max_area  of its triangle; infinity: no bound
  void add(const Point& a, const Point& b, double max_area);
  /// Find a position. @return none if there is none, or if it was not found soon
  [[nodiscard]] std::optional<Point> find();

 private:
  /// The points x with normal * (x - at) >= 0.
  struct HalfPlane {
    Point at;
    Point normal;
  };
  struct Disc {
    Point centre;
    double radius;
  };
  void clip(const HalfPlane& plane);
  [[nodiscard]] std::optional<Point> centroid() const noexcept;

  double sine_ = 0.0;
  double cosine_ = 1.0;
  std::vector<HalfPlane> planes_;
  std::vector<Disc> discs_;
  std::vector<Point> polygon_;
  std::vector<Point> clipped_;
  Point low_{};
  Point high_{};
};

}  // namespace barrio::delaunay::detail
