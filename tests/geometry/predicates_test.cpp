#include "barrio/geometry/predicates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include "tests/support/mpi_test.hpp"

// Comparison with exact fractions: test_signs.py.

namespace barrio::geometry {
namespace {

TEST(Predicates, KnowLeftAndInside) {
  check_arithmetic();
  const Point2 a{0, 0};
  const Point2 b{1, 0};
  const Point2 c{0, 1};
  EXPECT_EQ(orient2d(a, b, c), 1);
  EXPECT_EQ(orient2d(a, c, b), -1);
  EXPECT_EQ(orient2d(a, b, {3, 0}), 0);
  EXPECT_EQ(incircle(a, b, c, {0.5, 0.5}), 1);
  EXPECT_EQ(incircle(a, c, b, {0.5, 0.5}), -1);
  EXPECT_EQ(incircle(a, b, c, {2, 2}), -1);
  EXPECT_EQ(incircle(a, b, c, {1, 1}), 0);
  const std::array<Point3, 4> tet{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  EXPECT_EQ(orient3d(tet[0], tet[1], tet[2], tet[3]), 1);
  EXPECT_EQ(orient3d(tet[1], tet[0], tet[2], tet[3]), -1);
  EXPECT_EQ(orient3d(tet[0], tet[1], tet[2], {5, 7, 0}), 0);
}

/// Beyond floating-point accuracy: c is an ulp off the line through a and b.
TEST(Predicates, SeeAnUlp) {
  const Point2 a{0.1, 0.1};
  const Point2 b{0.7, 0.7};
  const double x = 0.3;
  EXPECT_EQ(orient2d(a, b, {x, x}), 0);
  EXPECT_EQ(orient2d(a, b, {x, std::nextafter(x, 1.0)}), 1);
  EXPECT_EQ(orient2d(a, b, {x, std::nextafter(x, 0.0)}), -1);
}

/// One of the two diagonals cuts a square, whichever triangle asks.
TEST(Predicates, TiesGiveOneTriangulation) {
  const std::array<Point2, 4> square{{{0.1, 0.1}, {0.4, 0.1}, {0.4, 0.4}, {0.1, 0.4}}};
  const auto in = [&](const std::array<std::size_t, 4>& order) {
    return incircle_unique({square[order[0]], square[order[1]], square[order[2]], square[order[3]]});
  };
  EXPECT_EQ(in({0, 1, 2, 3}), 1) << "the corner with the largest x and y is lifted: the other diagonal cuts";
  EXPECT_EQ(in({2, 3, 0, 1}), 1);
  EXPECT_EQ(in({1, 2, 3, 0}), -1);
  EXPECT_EQ(in({3, 0, 1, 2}), -1);
  EXPECT_EQ(in({1, 0, 2, 3}), -1) << "clockwise";
}

/// The sign changes with each exchange of two points, and only then, also for points of one circle on a lattice.
TEST(Predicates, TiesKeepTheirSignUnderPermutation) {
  std::mt19937_64 random(test::seed());
  constexpr std::array<Point2, 8> of_one_circle{
      {{2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}, {2, -1}}};
  for (int repeat = 0; repeat < 200; ++repeat) {
    std::array<std::size_t, 8> places{};
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::shuffle(places.begin(), places.end(), random);
    std::array<Point2, 4> points{};
    for (std::size_t i = 0; i < 4; ++i) points[i] = of_one_circle[places[i]];
    const int before = incircle_unique(points);
    EXPECT_NE(before, 0);
    const std::size_t i = random() % 4;
    const std::size_t j = (i + 1 + random() % 3) % 4;
    std::swap(points[i], points[j]);
    EXPECT_EQ(incircle_unique(points), -before);
  }
}

}  // namespace
}  // namespace barrio::geometry
