#include "barrio/partition/rcb.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <random>
#include <string>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::partition {
namespace {

using test::world;

struct Point {
  std::array<double, 3> x;
  std::int64_t id;
  std::int64_t weight = 1;
};

/// Recursive bisection as a textbook has it: sort everything, walk until the lower side has its share.
void bisect(std::vector<Point> points, int first_part, int n_parts, std::map<std::int64_t, int>& part_of) {
  if (n_parts == 1 || points.empty()) {
    for (const Point& point : points) part_of[point.id] = first_part;
    return;
  }
  std::size_t axis = 0;
  double longest = -1.0;
  for (std::size_t a = 0; a < 3; ++a) {
    const auto [low, high] = std::minmax_element(points.begin(), points.end(),
                                                 [&](const Point& p, const Point& q) { return p.x[a] < q.x[a]; });
    if (high->x[a] - low->x[a] > longest) {
      longest = high->x[a] - low->x[a];
      axis = a;
    }
  }
  std::sort(points.begin(), points.end(),
            [&](const Point& p, const Point& q) { return std::pair(p.x[axis], p.id) < std::pair(q.x[axis], q.id); });
  std::int64_t total = 0;
  for (const Point& point : points) total += point.weight;
  const int n_low = n_parts / 2;
  std::int64_t before = 0;
  std::size_t n = 0;
  // Lower side: as many points as weigh no more than n_low / n_parts of the whole.
  for (; n < points.size() && (before + points[n].weight) * n_parts <= total * n_low; ++n) before += points[n].weight;
  bisect({points.begin(), points.begin() + static_cast<std::ptrdiff_t>(n)}, first_part, n_low, part_of);
  bisect({points.begin() + static_cast<std::ptrdiff_t>(n), points.end()}, first_part + n_low, n_parts - n_low, part_of);
}

enum class Spread { slabs, scattered, first_rank, last_rank, odd_ranks };
constexpr std::array all_spreads{Spread::slabs, Spread::scattered, Spread::first_rank, Spread::last_rank,
                                 Spread::odd_ranks};

Rank home(Spread spread, std::size_t i, std::size_t n) {
  const auto size = static_cast<std::size_t>(world().size());
  switch (spread) {
    case Spread::slabs: return static_cast<Rank>(i * size / n);
    case Spread::scattered: return static_cast<Rank>(mix64(test::seed() + i) % size);
    case Spread::first_rank: return 0;
    case Spread::last_rank: return world().size() - 1;
    case Spread::odd_ranks: return size == 1 ? 0 : static_cast<Rank>((2 * i + 1) % (size / 2 * 2));
  }
  return 0;
}

/// What rcb gives the points of this rank, by id.
std::map<std::int64_t, int> cut(const std::vector<Point>& points, Spread spread, int n_parts, bool weighted) {
  std::vector<double> x;
  std::vector<GlobalId> ids;
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (home(spread, i, points.size()) != world().rank()) continue;
    x.insert(x.end(), points[i].x.begin(), points[i].x.end());
    ids.push_back(GlobalId{points[i].id});
    if (weighted) weights.push_back(points[i].weight);
  }
  const std::vector<std::int32_t> parts = rcb(world(), x, ids, weights, n_parts);
  EXPECT_EQ(parts.size(), ids.size());
  std::map<std::int64_t, int> part_of;
  for (std::size_t i = 0; i < ids.size(); ++i) part_of[value(ids[i])] = parts[i];
  return part_of;
}

void expect_equals_oracle(const std::vector<Point>& points, int n_parts, bool weighted) {
  std::map<std::int64_t, int> expected;
  bisect(points, 0, n_parts, expected);
  for (const Spread spread : all_spreads) {
    int n_wrong = 0;
    for (const auto& [id, part] : cut(points, spread, n_parts, weighted)) n_wrong += part == expected[id] ? 0 : 1;
    EXPECT_EQ(n_wrong, 0) << points.size() << " points, " << n_parts << " parts, spread " << static_cast<int>(spread);
  }
}

/// Ids are unique, not dense, not in the order of the points, and beyond 32 bits.
std::int64_t id_of(std::size_t i) { return static_cast<std::int64_t>((i * 7919) % 1'000'003) * 5'000'000'011; }

std::vector<Point> random_points(std::size_t n, std::uint64_t variant) {
  std::mt19937_64 random(test::seed() + variant);
  std::uniform_real_distribution<double> coordinate(-3.0, 2.0);
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back({{coordinate(random), 0.4 * coordinate(random), 0.9 * coordinate(random)}, id_of(i)});
    if (i > 0 && random() % 4 == 0) points.back().x = points[random() % i].x;  // a point on top of another
    if (random() % 16 == 0) points.back().x[random() % 3] = -0.0;
    if (random() % 16 == 0) points.back().x[random() % 3] = 0.0;
  }
  return points;
}

void add_weights(std::vector<Point>& points, std::int64_t largest) {
  std::mt19937_64 random(test::seed() + 77);
  for (Point& point : points)
    point.weight =
        random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest + 1));
}

TEST(Rcb, EqualsTheSerialOracleOnRandomPoints) {
  for (const int n_parts : {1, 2, 3, 5, 8, 13})
    expect_equals_oracle(random_points(400, static_cast<std::uint64_t>(n_parts)), n_parts, false);
}

TEST(Rcb, EqualsTheSerialOracleOnAGrid) {
  std::vector<Point> points;
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) points.push_back({{x - 4.0, y - 4.0, z * 1.0}, id_of(points.size())});
  for (const int n_parts : {2, 4, 6, 7, 16}) expect_equals_oracle(points, n_parts, false);
}

TEST(Rcb, EqualsTheSerialOracleWithWeights) {
  auto points = random_points(300, 40);
  for (const std::int64_t largest : {1, 10, 1'000'000'000}) {
    add_weights(points, largest);
    for (const int n_parts : {2, 3, 7, 12}) expect_equals_oracle(points, n_parts, true);
  }
  for (Point& point : points) point.weight = 0;
  expect_equals_oracle(points, 4, true);
  points[123].weight = 5;  // all weight in one point
  expect_equals_oracle(points, 4, true);
}

TEST(Rcb, EqualsTheSerialOracleWithMorePartsThanPoints) {
  for (const std::size_t n : {0U, 1U, 2U, 5U, 11U}) expect_equals_oracle(random_points(n, 50 + n), 17, false);
  expect_equals_oracle(random_points(3, 60), 1000, false);
}

TEST(Rcb, EqualsTheSerialOracleOnOneSpot) {
  std::vector<Point> points = random_points(90, 70);
  for (Point& point : points) point.x = {1e300, -1e-300, 0.0};
  for (const int n_parts : {2, 5}) expect_equals_oracle(points, n_parts, false);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].x = {i % 3 == 0 ? -0.0 : 0.0, 0.0, -0.0};  // one spot too
  for (const int n_parts : {2, 5}) expect_equals_oracle(points, n_parts, false);
}

TEST(Rcb, PartsOfUnitWeightDifferByOnePointAtMost) {
  for (const std::size_t n : {100U, 1001U, 5000U}) {
    for (const int n_parts : {1, 2, 3, 6, 7, 16, 61}) {
      std::vector<std::int64_t> size(static_cast<std::size_t>(n_parts), 0);
      for (const auto& [id, part] : cut(random_points(n, 80 + n), Spread::slabs, n_parts, false)) {
        ASSERT_GE(part, 0);
        ASSERT_LT(part, n_parts);
        size[static_cast<std::size_t>(part)] += 1;
      }
      mpi::all_reduce(world(), std::span<std::int64_t>(size), MPI_SUM);
      const auto [least, most] = std::minmax_element(size.begin(), size.end());
      EXPECT_LE(*most - *least, 1) << n << " points, " << n_parts << " parts";
    }
  }
}

TEST(Rcb, WeighedPartsDifferByTheWeightOfAPointOrTwo) {
  auto points = random_points(2000, 90);
  add_weights(points, 50);
  std::int64_t total = 0;
  for (const Point& point : points) total += point.weight;
  for (const int n_parts : {2, 3, 7, 16}) {
    std::map<std::int64_t, std::int64_t> weight_of;
    for (const Point& point : points) weight_of[point.id] = point.weight;
    std::vector<std::int64_t> weight(static_cast<std::size_t>(n_parts), 0);
    for (const auto& [id, part] : cut(points, Spread::scattered, n_parts, true))
      weight[static_cast<std::size_t>(part)] += weight_of[id];
    mpi::all_reduce(world(), std::span<std::int64_t>(weight), MPI_SUM);
    for (const std::int64_t w : weight) EXPECT_LE(std::abs(w - total / n_parts), 2 * 51) << n_parts << " parts";
  }
}

void expect_refused(const std::vector<double>& x, const std::vector<GlobalId>& ids,
                    const std::vector<std::int64_t>& weights, int n_parts, ErrorCode code, const std::string& text) {
  try {
    static_cast<void>(rcb(world(), x, ids, weights, n_parts));
    ADD_FAILURE() << "should refuse: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

TEST(Rcb, AFaultOfOneRankIsNamedOnAllRanks) {
  const Rank culprit = static_cast<Rank>(test::seed() % static_cast<std::uint64_t>(world().size()));
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::int64_t mine = 10 * (world().rank() + 1);
  const std::vector<GlobalId> ids{GlobalId{mine}, GlobalId{mine + 1}};
  const std::string subject = "point " + std::to_string(10 * (culprit + 1) + 1);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> x{0, 0, 0, 1, 1, 1};
    if (world().rank() == culprit) x[3 + axis] = nan;
    expect_refused(x, ids, {}, 2, ErrorCode::bad_input, subject + ": has a coordinate that is not a number");
  }
  const std::vector<std::int64_t> weights{1, world().rank() == culprit ? -1 : 0};
  expect_refused({0, 0, 0, 1, 1, 1}, ids, weights, 2, ErrorCode::bad_input, subject + ": has a negative weight");
  expect_refused({0, 0, 0, 1, 1, 1}, ids, {}, 0, ErrorCode::usage,
                 "0 parts: is not a number of parts (ask for 1 or more)");
}

}  // namespace
}  // namespace barrio::partition
