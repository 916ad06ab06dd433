#include "barrio/partition/hilbert.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "barrio/geometry/hilbert_place.hpp"
#include "tests/partition/points.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::partition {
namespace {

using Cell = std::vector<std::uint64_t>;
using geometry::hilbert_place;
using test::Point;

/// The curve in one of the halves, quarters or eighths: the position of that piece, and the rotation of the whole curve
/// in it: axis i of the curve is axis `axis[i]` of the grid, reversed if `is_flipped[i]`.
struct Piece {
  Cell corner;
  std::vector<std::size_t> axis;
  std::vector<bool> is_flipped;
};

/// Return the definition of the curve as smaller copies of itself.
const std::vector<Piece>& pieces(std::size_t n_axes) {
  static const std::vector<std::vector<Piece>> all{{},
                                                   {{{0}, {0}, {false}}, {{1}, {0}, {false}}},
                                                   {{{0, 0}, {1, 0}, {false, false}},
                                                    {{0, 1}, {0, 1}, {false, false}},
                                                    {{1, 1}, {0, 1}, {false, false}},
                                                    {{1, 0}, {1, 0}, {true, true}}},
                                                   {{{0, 0, 0}, {2, 0, 1}, {false, false, false}},
                                                    {{0, 0, 1}, {1, 0, 2}, {false, false, false}},
                                                    {{0, 1, 1}, {0, 1, 2}, {false, false, false}},
                                                    {{0, 1, 0}, {2, 1, 0}, {true, false, true}},
                                                    {{1, 1, 0}, {2, 1, 0}, {false, false, false}},
                                                    {{1, 1, 1}, {0, 1, 2}, {false, false, false}},
                                                    {{1, 0, 1}, {1, 0, 2}, {true, true, false}},
                                                    {{1, 0, 0}, {2, 0, 1}, {true, true, false}}}};
  return all[n_axes];
}

/// List all cells of a grid of 2^n_bits per side in the order of the curve.
std::vector<Cell> draw(std::size_t n_axes, int n_bits) {
  if (n_bits == 0) return {Cell(n_axes, 0)};
  const std::vector<Cell> copy = draw(n_axes, n_bits - 1);
  const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(n_bits - 1);
  std::vector<Cell> cells;
  for (const Piece& piece : pieces(n_axes)) {
    for (const Cell& small : copy) {
      Cell cell(n_axes);
      for (std::size_t i = 0; i < n_axes; ++i)
        cell[piece.axis[i]] = piece.is_flipped[i] ? half - 1 - small[i] : small[i];
      for (std::size_t i = 0; i < n_axes; ++i) cell[i] += half * piece.corner[i];
      cells.push_back(cell);
    }
  }
  return cells;
}

/// Compute the position of a cell on the curve, piece by piece.
std::uint64_t place_in_pieces(Cell cell, int n_bits) {
  std::uint64_t place = 0;
  for (int bit = n_bits - 1; bit >= 0; --bit) {
    const std::uint64_t half = std::uint64_t{1} << static_cast<unsigned>(bit);
    Cell corner;
    for (std::uint64_t& x : cell) {
      corner.push_back(x / half);
      x %= half;
    }
    const std::vector<Piece>& curve = pieces(cell.size());
    const auto piece = std::ranges::find(curve, corner, &Piece::corner);
    place = place * curve.size() + static_cast<std::uint64_t>(piece - curve.begin());
    Cell turned;
    for (std::size_t i = 0; i < cell.size(); ++i)
      turned.push_back(piece->is_flipped[i] ? half - 1 - cell[piece->axis[i]] : cell[piece->axis[i]]);
    cell = turned;
  }
  return place;
}

TEST(HilbertPlace, IsThatOfTheCurveDrawn) {
  for (const auto& [n_axes, n_bits] : {std::pair<std::size_t, int>{1, 6}, {2, 1}, {2, 5}, {3, 1}, {3, 4}}) {
    const std::vector<Cell> cells = draw(n_axes, n_bits);
    ASSERT_EQ(cells.size(), std::size_t{1} << (n_axes * static_cast<std::size_t>(n_bits)));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      ASSERT_EQ(hilbert_place(cells[i], n_bits), i) << n_axes << " axes, " << n_bits << " bits";
      if (i == 0) continue;
      std::uint64_t distance = 0;
      for (std::size_t a = 0; a < n_axes; ++a)
        distance += cells[i][a] > cells[i - 1][a] ? cells[i][a] - cells[i - 1][a] : cells[i - 1][a] - cells[i][a];
      ASSERT_EQ(distance, 1U) << "the curve must not jump";
    }
  }
}

TEST(HilbertPlace, IsThatOfTheCurveInItsFinestCells) {
  std::mt19937_64 random(test::seed());
  for (const auto& [n_axes, n_bits] : {std::pair<std::size_t, int>{1, 63}, {1, 52}, {2, 31}, {2, 32}, {3, 21}}) {
    for (int repeat = 0; repeat < 1000; ++repeat) {
      Cell cell(n_axes);
      for (std::uint64_t& x : cell) x = random() >> static_cast<unsigned>(64 - n_bits);
      ASSERT_EQ(hilbert_place(cell, n_bits), place_in_pieces(cell, n_bits)) << n_axes << " axes, " << n_bits << " bits";
    }
  }
}

/// Sort all points along the curve, then walk along it: a part ends where the weight exceeds its share of the whole.
std::map<std::int64_t, int> walk(const std::vector<Point>& points, int n_parts) {
  std::array<double, 3> low{};
  std::vector<std::size_t> axes;
  double side = 0.0;
  for (std::size_t a = 0; a < 3 && !points.empty(); ++a) {
    const auto [least, most] = std::ranges::minmax_element(points, {}, [&](const Point& p) { return p.x[a]; });
    low[a] = least->x[a];
    if (most->x[a] > low[a]) axes.push_back(a);
    side = std::max(side, most->x[a] - low[a]);
  }
  const int n_bits = axes.size() == 3 ? 21 : axes.size() == 2 ? 31 : 52;
  struct Stop {
    std::uint64_t place;
    std::int64_t id;
    std::int64_t weight;
  };
  std::vector<Stop> stops;
  std::int64_t total = 0;
  for (const Point& point : points) {
    Cell cell;
    for (const std::size_t a : axes) {
      const double n_cells = std::pow(2.0, n_bits);
      cell.push_back(static_cast<std::uint64_t>(std::min(n_cells - 1.0, (point.x[a] - low[a]) / side * n_cells)));
    }
    stops.push_back({axes.empty() ? 0 : place_in_pieces(cell, n_bits), point.id, point.weight});
    total += point.weight;
  }
  std::ranges::sort(stops, {}, [](const Stop& stop) { return std::pair(stop.place, stop.id); });
  std::map<std::int64_t, int> part_of;
  std::int64_t weight = 0;
  int part = 0;
  for (const Stop& stop : stops) {
    weight += stop.weight;
    while (part + 1 < n_parts && weight * n_parts > total * (part + 1)) ++part;
    part_of[stop.id] = part;
  }
  return part_of;
}

void expect_hilbert_equals_oracle(const std::vector<Point>& points, int n_parts, bool weighted) {
  test::expect_equals_oracle(hilbert, walk, points, n_parts, weighted);
}

TEST(Hilbert, EqualsTheSerialOracleOnRandomPoints) {
  for (const int n_parts : {1, 2, 3, 5, 8, 13})
    expect_hilbert_equals_oracle(test::random_points(400, n_parts), n_parts, false);
}

TEST(Hilbert, EqualsTheSerialOracleOnPlanesAndLines) {
  for (const std::vector<std::size_t>& flat : {std::vector<std::size_t>{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}}) {
    auto points = test::random_points(200, 30 + flat.size());
    for (Point& point : points)
      for (const std::size_t axis : flat) point.x[axis] = 0.3;
    for (const int n_parts : {2, 7}) expect_hilbert_equals_oracle(points, n_parts, false);
  }
}

TEST(Hilbert, EqualsTheSerialOracleOnHardCases) { test::expect_equals_oracle_on_hard_cases(hilbert, walk); }

/// With as many parts as points of equal weight, each part is a point, and has its number.
TEST(HilbertNumbers, AreThoseOfPartsOfOnePoint) {
  const auto number = [](mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                         std::span<const std::int64_t> /*weights*/, int /*n_parts*/) {
    std::vector<std::int32_t> numbers;
    for (const GlobalId one : hilbert_numbers(context, points, ids))
      numbers.push_back(static_cast<std::int32_t>(value(one)));
    return numbers;
  };
  for (const std::size_t n : {0, 1, 5, 700}) {
    const std::vector<Point> points = test::random_points(n, 3);
    test::expect_equals_oracle(number, walk, points, static_cast<int>(std::max<std::size_t>(n, 1)), false);
  }
}

TEST(Hilbert, TheWidestBoxIsCut) {
  std::vector<Point> points;
  constexpr double most = std::numeric_limits<double>::max();
  for (std::size_t i = 0; i < 40; ++i) {
    const double x = i % 2 == 0 ? -most : most;
    points.push_back({{x, x, i < 20 ? -most : most}, test::id_of(i)});
  }
  // Four corners, a quarter of the points in each.
  const auto part_of = test::cut(hilbert, points, test::Spread::scattered, 4, false);
  for (std::size_t i = 0; i < 40; ++i) {
    for (std::size_t k = 0; k < 40; ++k) {
      if (!part_of.contains(points[i].id) || !part_of.contains(points[k].id)) continue;
      EXPECT_EQ(part_of.at(points[i].id) == part_of.at(points[k].id), points[i].x == points[k].x);
    }
  }
}

TEST(Hilbert, PartsAreEquallyHeavy) { test::expect_balance(hilbert); }

TEST(Hilbert, AFaultOfOneRankIsNamedOnAllRanks) {
  test::expect_bad_input_is_refused(hilbert);
  test::expect_coordinate_is_refused(hilbert, -std::numeric_limits<double>::infinity(),
                                     "has an infinite coordinate, but a curve needs a finite box");
}

}  // namespace
}  // namespace barrio::partition
