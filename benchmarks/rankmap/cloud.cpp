#include "benchmarks/rankmap/cloud.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <utility>

#include "barrio/base/hash.hpp"

namespace barrio::bench {
namespace {

constexpr int n_nearest = 12;

using Point = std::array<double, 3>;

/// The nearest points found so far, nearest first.
class Nearest {
 public:
  void offer(std::int32_t point, double distance2) {
    if (distance2 >= farthest()) return;
    std::size_t at = n_nearest - 1;
    for (; at > 0 && found_[at - 1].first > distance2; --at) found_[at] = found_[at - 1];
    found_[at] = {distance2, point};
  }
  [[nodiscard]] double farthest() const { return found_.back().first; }
  [[nodiscard]] std::span<const std::pair<double, std::int32_t>> all() const& { return found_; }
  std::span<const std::pair<double, std::int32_t>> all() const&& = delete;
  Nearest() { found_.fill({std::numeric_limits<double>::infinity(), -1}); }

 private:
  std::array<std::pair<double, std::int32_t>, n_nearest> found_;
};

/// Points sorted so that planes halve each range, down to a few points.
class HalvedPoints {
 public:
  explicit HalvedPoints(std::span<const double> coordinates) : points_(coordinates.size() / 3) {
    for (std::size_t i = 0; i < points_.size(); ++i) {
      points_[i].id = static_cast<std::int32_t>(i);
      std::copy_n(coordinates.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, points_[i].at.begin());
    }
    planes_.resize(points_.size());
    halve(0, points_.size());
  }

  [[nodiscard]] std::size_t n() const { return points_.size(); }
  [[nodiscard]] std::int32_t id(std::size_t i) const { return points_[i].id; }

  /// Return the nearest points of point i, without i itself.
  [[nodiscard]] Nearest nearest_of(std::size_t i) const {
    Nearest nearest;
    search(0, points_.size(), points_[i], nearest);
    return nearest;
  }

 private:
  struct Entry {
    Point at;
    std::int32_t id;
  };
  static constexpr std::size_t few = 8;

  void halve(std::size_t begin, std::size_t end) {
    if (end - begin <= few) return;
    Point low = points_[begin].at, high = low;
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        low[axis] = std::min(low[axis], points_[i].at[axis]);
        high[axis] = std::max(high[axis], points_[i].at[axis]);
      }
    }
    std::size_t widest = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (high[axis] - low[axis] > high[widest] - low[widest]) widest = axis;
    const std::size_t middle = begin + (end - begin) / 2;
    const auto at = [&](std::size_t i) { return points_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(begin), at(middle), at(end),
                     [&](const Entry& a, const Entry& b) { return a.at[widest] < b.at[widest]; });
    planes_[middle] = {widest, points_[middle].at[widest]};
    halve(begin, middle);
    halve(middle, end);
  }

  void search(std::size_t begin, std::size_t end, const Entry& from, Nearest& nearest) const {
    if (end - begin <= few) {
      for (std::size_t i = begin; i < end; ++i) {
        const Entry& other = points_[i];
        double distance2 = 0.0;
        for (std::size_t axis = 0; axis < 3; ++axis)
          distance2 += (other.at[axis] - from.at[axis]) * (other.at[axis] - from.at[axis]);
        if (other.id != from.id) nearest.offer(other.id, distance2);
      }
      return;
    }
    const std::size_t middle = begin + (end - begin) / 2;
    const auto [axis, value] = planes_[middle];
    const double beyond = from.at[axis] - value;
    const bool is_above = beyond >= 0.0;
    search(is_above ? middle : begin, is_above ? end : middle, from, nearest);
    if (beyond * beyond < nearest.farthest()) search(is_above ? begin : middle, is_above ? middle : end, from, nearest);
  }

  std::vector<Entry> points_;
  std::vector<std::pair<std::size_t, double>> planes_;  // by the middle of the halved range: axis and position
};

/// Return a pseudo-random number in [0, 1), the same on all machines.
double random_of(std::uint64_t index) { return static_cast<double>(mix64(index + 1) >> 11U) * 0x1p-53; }

}  // namespace

PointGrid plate_cloud(int n_points) {
  constexpr double sweep = 0.5, half_span = 5.0, root_chord = 1.6, tip_chord = 0.5;
  constexpr double nearest = 0.002, farthest = 4.0, far_field = 30.0;
  std::vector<double> coordinates;
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(n_points); ++i) {
    const auto draw = [i](std::uint64_t which) { return random_of(8 * i + which); };
    if (draw(0) < 0.25) {
      for (const std::uint64_t axis : {1, 2, 3}) coordinates.push_back(far_field * (draw(axis) - 0.5));
      continue;
    }
    const double along = draw(1), height = 2 * draw(2) - 1, angle = 2 * std::numbers::pi * draw(3);
    const double distance = nearest * std::pow(farthest / nearest, draw(4)), flat = std::sqrt(1 - height * height);
    const double chord = root_chord + (tip_chord - root_chord) * along, y = half_span * along;
    coordinates.push_back(sweep * y + chord * (draw(5) - 0.5) + distance * flat * std::cos(angle));
    coordinates.push_back(y + distance * flat * std::sin(angle));
    coordinates.push_back(distance * height);
  }
  return connect_nearest(std::move(coordinates));
}

PointGrid connect_nearest(std::vector<double> coordinates) {
  const HalvedPoints points(coordinates);
  std::vector<std::pair<std::int32_t, std::int32_t>> pairs;  // in both directions
  pairs.reserve(2 * n_nearest * points.n());
  for (std::size_t i = 0; i < points.n(); ++i) {
    const Nearest nearest = points.nearest_of(i);
    for (const auto& [distance2, other] : nearest.all()) {
      if (other < 0) continue;
      pairs.emplace_back(points.id(i), other);
      pairs.emplace_back(other, points.id(i));
    }
  }
  std::ranges::sort(pairs);
  const auto repeated = std::ranges::unique(pairs);
  pairs.erase(repeated.begin(), repeated.end());

  PointGrid cloud{.name = "cloud", .n_i = static_cast<int>(points.n()), .n_j = 1, .n_k = 1};
  cloud.coordinates = std::move(coordinates);
  cloud.offsets.assign(points.n() + 1, 0);
  cloud.neighbours.reserve(pairs.size());
  for (const auto& [point, other] : pairs) {
    ++cloud.offsets[static_cast<std::size_t>(point) + 1];
    cloud.neighbours.push_back(other);
  }
  std::partial_sum(cloud.offsets.begin(), cloud.offsets.end(), cloud.offsets.begin());
  return cloud;
}

}  // namespace barrio::bench
