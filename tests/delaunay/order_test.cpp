#include "barrio/delaunay/kernel/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

std::vector<Point> random_points(std::mt19937_64& random, std::size_t n, const Point& low, double size) {
  std::uniform_real_distribution<double> uniform(0, size);
  std::vector<Point> points(n);
  for (Point& p : points) p = {low[0] + uniform(random), low[1] + uniform(random)};
  return points;
}

/// Return the median of the steps from each point to the next one.
double median_step(const std::vector<Point>& points) {
  const std::vector<std::int32_t> order = detail::insertion_order(points);
  std::vector<std::int32_t> sorted = order;
  std::ranges::sort(sorted);
  std::vector<std::int32_t> all(points.size());
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(sorted, all) << "each point once";
  std::vector<double> steps;
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Point& a = points[order[i - 1]];
    const Point& b = points[order[i]];
    steps.push_back(std::hypot(a[0] - b[0], a[1] - b[1]));
  }
  std::ranges::nth_element(steps, steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2));
  return steps[steps.size() / 2];
}

/// The next point is near, in units of the mean distance between points, however the points are spread.
TEST(Order, TheNextPointIsNear) {
  std::mt19937_64 random(barrio::test::seed());
  constexpr std::size_t n = 20000;
  const double mean = 1 / std::sqrt(n);
  std::vector<Point> points = random_points(random, n, {0, 0}, 1);
  EXPECT_LT(median_step(points), 2 * mean);
  for (const double far : {1e3, 1e9, 1e30}) {
    points.push_back({far, -far});
    EXPECT_LT(median_step(points), 2 * mean) << "one point at " << far;
    points.pop_back();
  }
  std::vector<Point> clusters;
  for (const Point& p : random_points(random, 20, {0, 0}, 1))
    for (const Point& q : random_points(random, n / 20, p, 1e-9)) clusters.push_back(q);
  EXPECT_LT(median_step(clusters), 2e-9 * mean * std::sqrt(20));
  std::vector<Point> nested;  // three scales
  for (const double size : {1.0, 1e-10, 1e-20})
    for (const Point& p : random_points(random, n, {0, 0}, size)) nested.push_back(p);
  EXPECT_LT(median_step(nested), 1e-10);
}

TEST(Order, EqualPointsHaveAnEnd) {
  std::vector<Point> points(5000, Point{0.3, 0.7});
  EXPECT_EQ(median_step(points), 0.0);
  points.push_back({1e9, 0});
  EXPECT_EQ(median_step(points), 0.0);
}

}  // namespace
}  // namespace barrio::delaunay
