#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Places that are farther from each other than a distance, found by squares of a grid.
class SparsePlaces {
 public:
  explicit SparsePlaces(double distance) : distance_(distance) {}

  /// Find the place next to a position, within the distance. @return its row, or -1; of two, the lower row
  [[nodiscard]] std::int32_t nearest(const Point& p) const;
  /// Add a place. @pre nearest(p) < 0
  void add(const Point& p);
  [[nodiscard]] const std::vector<Point>& places() const noexcept { return places_; }

 private:
  [[nodiscard]] static std::uint64_t key(std::int64_t x, std::int64_t y) noexcept;
  [[nodiscard]] std::int64_t square(double x) const noexcept;

  double distance_;
  std::vector<Point> places_;
  std::vector<std::int32_t> next_;  // place of the same square, or -1
  std::unordered_map<std::uint64_t, std::int32_t> first_;
};

/// Merge points within a distance of each other, in the order of their coordinates.
/// @param[out] site_of  of each point: the nearest of the returned sites, which are points
/// @return sites, farther from each other than the distance, in the order of their coordinates
[[nodiscard]] std::vector<Point> merge_points(std::span<const Point> points, double distance,
                                              std::vector<std::int32_t>& site_of);

}  // namespace barrio::delaunay::detail
