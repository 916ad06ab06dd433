#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/snap.hpp"
#include "barrio/delaunay/snapping/crossings.hpp"
#include "tests/delaunay/snapped.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::delaunay {
namespace {

using test::areas_of;
using test::segments_of;

/// Make a graph with near points, crossings and segments beside each other.
PlanarGraph bad_graph(std::mt19937_64& random, double tolerance) {
  PlanarGraph graph;
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  const auto some = [&](std::size_t n) { return static_cast<std::int32_t>(random() % n); };
  const auto beside = [&](const Point& a, const Point& b, double part) {
    return Point{a[0] + part * (b[0] - a[0]) + uniform(-2, 2) * tolerance,
                 a[1] + part * (b[1] - a[1]) + uniform(-2, 2) * tolerance};
  };
  const std::size_t n = 3 + random() % 40;
  while (graph.points.size() < n) {
    const double kind = uniform(0, 1);
    if (kind < 0.4 || graph.points.size() < 3) {
      graph.points.push_back({uniform(0, 1), uniform(0, 1)});
    } else {
      const Point a = graph.points[some(graph.points.size())];
      const Point b = graph.points[some(graph.points.size())];
      graph.points.push_back(beside(a, b, kind < 0.6 ? 0.0 : uniform(0, 1)));
    }
  }
  const std::size_t n_segments = 1 + random() % 30;
  for (std::size_t i = 0; i < n_segments; ++i) graph.segments.push_back({{some(n), some(n)}, some(5)});
  for (std::size_t i = 0; i < n_segments / 3; ++i) {
    const std::array<std::int32_t, 2> ends = graph.segments[some(n_segments)].ends;
    const Point a = graph.points[ends[0]];
    const Point b = graph.points[ends[1]];
    const auto first = static_cast<std::int32_t>(graph.points.size());
    graph.points.push_back(beside(a, b, uniform(-0.2, 0.4)));
    graph.points.push_back(beside(a, b, uniform(0.6, 1.2)));
    graph.segments.push_back({{first, first + 1}, 7});
  }
  graph.attributes = {{"depth"}};
  for (std::size_t i = 0; i < graph.points.size(); ++i) graph.attribute_values.push_back(uniform(0, 1));
  return graph;
}

/// Renumber points and segments at random.
PlanarGraph permuted_points(const PlanarGraph& graph, std::mt19937_64& random) {
  std::vector<std::int32_t> numbers(graph.points.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::ranges::shuffle(numbers, random);
  PlanarGraph other = graph;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    other.points[numbers[i]] = graph.points[i];
    other.attribute_values[numbers[i]] = graph.attribute_values[i];
  }
  for (auto& [ends, marker] : other.segments) {
    ends = {numbers[ends[0]], numbers[ends[1]]};
    if (random() % 2 == 0) std::swap(ends[0], ends[1]);
  }
  std::ranges::shuffle(other.segments, random);
  return other;
}

std::map<Point, double> values_of(const PlanarGraph& graph) {
  std::map<Point, double> values;
  for (std::size_t i = 0; i < graph.points.size(); ++i) values[graph.points[i]] = graph.attribute_values[i];
  return values;
}

/// Compute the distance of a position from the nearest segment or point of a graph.
double distance_to(const PlanarGraph& graph, const Point& p, bool to_points_alone) {
  double best = std::numeric_limits<double>::infinity();
  for (const Point& q : graph.points) best = std::min(best, detail::squared_gap(p, q));
  for (const auto& [ends, marker] : graph.segments)
    if (!to_points_alone) best = std::min(best, detail::squared_gap(p, graph.points[ends[0]], graph.points[ends[1]]));
  return std::sqrt(best);
}

TEST(SnapRandom, CrossingsAreThoseOfAllPairs) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  const auto uniform = [&](double low, double high) { return std::uniform_real_distribution(low, high)(random); };
  for (int round = 0; round < 50; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    std::vector<std::array<Point, 2>> segments;
    std::vector<char> is_sought;
    for (std::uint64_t i = random() % 200; i > 0; --i) {
      const Point a{uniform(0, 1), uniform(0, 1)};
      const double length = std::pow(10.0, uniform(-3, 0));
      segments.push_back({a, {a[0] + uniform(-length, length), a[1] + uniform(-length, length)}});
      is_sought.push_back(random() % 3 == 0 ? 1 : 0);
    }
    std::vector<std::array<std::int32_t, 2>> wanted;
    for (std::int32_t i = 0; i < std::ssize(segments); ++i)
      for (std::int32_t k = i + 1; k < std::ssize(segments); ++k)
        if ((is_sought[i] != 0 || is_sought[k] != 0) &&
            detail::do_cross(segments[i][0], segments[i][1], segments[k][0], segments[k][1]))
          wanted.push_back({i, k});
    ASSERT_EQ(detail::find_crossings(segments, is_sought), wanted);
  }
}

TEST(SnapRandom, AThousandBadGraphsBecomeGoodOnes) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  int n_vanished = 0;
  for (int round = 0; round < 1000; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const double tolerance = std::pow(10.0, std::uniform_real_distribution(-8.0, -1.0)(random));
    const PlanarGraph graph = bad_graph(random, tolerance);
    PlanarGraph snapped = graph;
    try {
      snap(snapped, {.tolerance = tolerance});
    } catch (const Error& error) {
      ASSERT_EQ(error.cause().rfind("all vanish", 0), 0U) << error.what();
      ++n_vanished;
      continue;
    }
    if (snapped.points.size() >= 3) validate(triangulate(snapped, {.fills_hull = true}));
    for (std::size_t i = 0; i < snapped.points.size(); ++i)
      for (std::size_t k = 0; k < i; ++k)
        ASSERT_GT(detail::squared_gap(snapped.points[i], snapped.points[k]), tolerance * tolerance);
    for (const Point& p : graph.points) ASSERT_LE(distance_to(snapped, p, true), tolerance * (1 + 1e-12));
    for (const auto& [ends, marker] : graph.segments) {
      constexpr int n_places = 16;
      for (int i = 0; i <= n_places; ++i) {
        Point p;
        for (std::size_t k = 0; k < 2; ++k)
          p[k] = std::lerp(graph.points[ends[0]][k], graph.points[ends[1]][k], static_cast<double>(i) / n_places);
        ASSERT_LE(distance_to(snapped, p, false), 4 * tolerance);
      }
    }
    PlanarGraph other = permuted_points(graph, random);
    snap(other, {.tolerance = tolerance});
    ASSERT_EQ(segments_of(other), segments_of(snapped));
    const std::map<Point, double> values = values_of(snapped);
    for (const auto& [place, value] : values_of(other)) ASSERT_NEAR(value, values.at(place), 1e-9);
  }
  EXPECT_LT(n_vanished, 30) << "seed " << seed;
}

TEST(SnapRandom, RegionsThatShareBordersTileTheirUnion) {
  const std::uint64_t seed = barrio::test::seed();
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    const double tolerance = std::pow(10.0, std::uniform_real_distribution(-9.0, -3.0)(random));
    const auto moved = [&](double x) { return x + tolerance * std::uniform_real_distribution(-0.3, 0.3)(random); };
    // cells of a grid, each with its own rounding and points on its sides
    PlanarGraph graph;
    constexpr int n = 5;
    for (int cell = 0; cell < n * n; ++cell) {
      const double x = cell % n;
      const double y = cell / n;
      const auto first = static_cast<std::int32_t>(graph.points.size());
      for (const Point& p : {Point{0, 0}, Point{1, 0}, Point{1, 1}, Point{0, 1}}) {
        graph.points.push_back({moved(x + p[0]), moved(y + p[1])});
        if (random() % 2 == 0) continue;
        const double part = std::uniform_real_distribution(0.1, 0.9)(random);
        const Point along{p[0] == p[1] ? 1.0 - 2 * p[0] : 0.0, p[0] == p[1] ? 0.0 : 2 * p[0] - 1.0};
        graph.points.push_back({moved(x + p[0] + part * along[0]), moved(y + p[1] + part * along[1])});
      }
      const auto end = static_cast<std::int32_t>(graph.points.size());
      for (std::int32_t i = first; i < end; ++i) {
        graph.segments.push_back({.ends = {i, i + 1 < end ? i + 1 : first}, .marker = 1});
        graph.sides.push_back({cell + 1, PlanarGraph::outside});
      }
      graph.regions.push_back({});
    }
    const SnapReport report = snap(graph, {.tolerance = tolerance});
    EXPECT_TRUE(report.vanished_regions.empty());
    const std::map<std::int32_t, double> areas = areas_of(graph);
    ASSERT_EQ(areas.size(), 25U);
    double sum = 0.0;
    for (const auto& [region, area] : areas) sum += area;
    // without gaps between cells, only the outer border differs
    EXPECT_NEAR(sum, 25.0, 25 * 2 * tolerance);
    EXPECT_EQ(triangulate(graph).n_repeated_segments, 0);
    for (const auto& [left, right] : graph.sides) EXPECT_NE(left, right);
  }
}

}  // namespace
}  // namespace barrio::delaunay
