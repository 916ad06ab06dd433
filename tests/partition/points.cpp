#include "tests/partition/points.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "barrio/base/hash.hpp"
#include "barrio/mpi/collectives.hpp"
#include "tests/support/mpi_test.hpp"

namespace barrio::test {
namespace {

Rank home(Spread spread, std::size_t i, std::size_t n) {
  const auto size = static_cast<std::size_t>(world().size());
  switch (spread) {
    case Spread::slabs: return static_cast<Rank>(i * size / n);
    case Spread::scattered: return static_cast<Rank>(mix64(seed() + i) % size);
    case Spread::first_rank: return 0;
    case Spread::last_rank: return world().size() - 1;
    case Spread::odd_ranks: return size == 1 ? 0 : static_cast<Rank>((2 * i + 1) % (size / 2 * 2));
  }
  return 0;
}

std::vector<std::int64_t> weights_of_parts(const Cutter& cutter, const std::vector<Point>& points, Spread spread,
                                           int n_parts, bool weighted) {
  std::map<std::int64_t, std::int64_t> weight_of;
  for (const Point& point : points) weight_of[point.id] = point.weight;
  std::vector<std::int64_t> weight(n_parts, 0);
  for (const auto& [id, part] : cut(cutter, points, spread, n_parts, weighted)) {
    if (part < 0 || part >= n_parts) {
      ADD_FAILURE() << "point " << id << " got part " << part << " of " << n_parts;
    } else {
      weight[part] += weight_of[id];
    }
  }
  mpi::all_reduce(world(), std::span<std::int64_t>(weight), MPI_SUM);
  return weight;
}

void expect_refused(const Cutter& cutter, const std::vector<double>& x, const std::vector<GlobalId>& ids,
                    const std::vector<std::int64_t>& weights, int n_parts, ErrorCode code, const std::string& text) {
  try {
    static_cast<void>(cutter(world(), x, ids, weights, n_parts));
    ADD_FAILURE() << "should refuse: " << text;
  } catch (const AgreedError& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_EQ(std::string(error.what()), text);
  }
}

Rank culprit() { return static_cast<Rank>(seed() % static_cast<std::uint64_t>(world().size())); }

/// Return the ids of two points on each rank. The second point of the culprit is wrong.
std::vector<GlobalId> two_ids() {
  const std::int64_t mine = 10 * (world().rank() + 1);
  return {GlobalId{mine}, GlobalId{mine + 1}};
}
std::string point_at_fault() { return "point " + std::to_string(10 * (culprit() + 1) + 1); }

}  // namespace

std::map<std::int64_t, int> cut(const Cutter& cutter, const std::vector<Point>& points, Spread spread, int n_parts,
                                bool weighted) {
  std::vector<double> x;
  std::vector<GlobalId> ids;
  std::vector<std::int64_t> weights;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (home(spread, i, points.size()) != world().rank()) continue;
    x.insert(x.end(), points[i].x.begin(), points[i].x.end());
    ids.push_back(GlobalId{points[i].id});
    if (weighted) weights.push_back(points[i].weight);
  }
  const std::vector<std::int32_t> parts = cutter(world(), x, ids, weights, n_parts);
  EXPECT_EQ(parts.size(), ids.size());
  std::map<std::int64_t, int> part_of;
  for (std::size_t i = 0; i < ids.size(); ++i) part_of[value(ids[i])] = parts[i];
  return part_of;
}

void expect_equals_oracle(const Cutter& cutter, const Oracle& oracle, const std::vector<Point>& points, int n_parts,
                          bool weighted) {
  const std::map<std::int64_t, int> expected = oracle(points, n_parts);
  for (const Spread spread :
       {Spread::slabs, Spread::scattered, Spread::first_rank, Spread::last_rank, Spread::odd_ranks}) {
    int n_wrong = 0;
    for (const auto& [id, part] : cut(cutter, points, spread, n_parts, weighted))
      n_wrong += part == expected.at(id) ? 0 : 1;
    EXPECT_EQ(n_wrong, 0) << points.size() << " points, " << n_parts << " parts, spread " << static_cast<int>(spread);
  }
}

void expect_equals_oracle_on_hard_cases(const Cutter& cutter, const Oracle& oracle) {
  const auto expect = [&](const std::vector<Point>& points, int n_parts, bool weighted) {
    expect_equals_oracle(cutter, oracle, points, n_parts, weighted);
  };
  auto points = random_points(300, 40);
  for (const std::int64_t largest : {1, 10, 1'000'000'000}) {
    add_weights(points, largest);
    for (const int n_parts : {2, 3, 7, 12}) expect(points, n_parts, true);
  }
  for (Point& point : points) point.weight = 1;
  const std::map<std::int64_t, int> even = oracle(points, 4);
  for (Point& point : points) point.weight = 0;
  for (const Spread spread : {Spread::scattered, Spread::first_rank})
    for (const auto& [id, part] : cut(cutter, points, spread, 4, true)) EXPECT_EQ(part, even.at(id)) << "all weigh 0";
  points[123].weight = 5;
  expect(points, 4, true);

  for (const std::size_t n : {0U, 1U, 2U, 5U, 11U}) expect(random_points(n, 50 + n), 17, false);
  expect(random_points(3, 60), 1000, false);

  points = random_points(90, 70);
  for (Point& point : points) point.x = {1e300, -1e-300, 0.0};
  for (const int n_parts : {2, 5}) expect(points, n_parts, false);
  for (std::size_t i = 0; i < points.size(); ++i) points[i].x = {i % 3 == 0 ? -0.0 : 0.0, 0.0, -0.0};  // one place
  for (const int n_parts : {2, 5}) expect(points, n_parts, false);
}

void expect_balance(const Cutter& cutter) {
  for (const std::size_t n : {100U, 1001U, 5000U}) {
    for (const int n_parts : {1, 2, 3, 6, 7, 16, 61}) {
      const auto size = weights_of_parts(cutter, random_points(n, 80 + n), Spread::slabs, n_parts, false);
      const auto [least, most] = std::minmax_element(size.begin(), size.end());
      EXPECT_LE(*most - *least, 1) << n << " points, " << n_parts << " parts";
    }
  }
  auto points = random_points(2000, 90);
  add_weights(points, 50);
  std::int64_t total = 0;
  for (const Point& point : points) total += point.weight;
  for (const int n_parts : {2, 3, 7, 16}) {
    for (const std::int64_t weight : weights_of_parts(cutter, points, Spread::scattered, n_parts, true))
      EXPECT_LE(std::abs(weight - total / n_parts), 2 * 51) << n_parts << " parts";
  }
}

void expect_coordinate_is_refused(const Cutter& cutter, double coordinate, const std::string& cause) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    std::vector<double> x{0, 0, 0, 1, 1, 1};
    if (world().rank() == culprit()) x[3 + axis] = coordinate;
    expect_refused(cutter, x, two_ids(), {}, 2, ErrorCode::bad_input, point_at_fault() + ": " + cause);
  }
}

void expect_bad_input_is_refused(const Cutter& cutter) {
  expect_coordinate_is_refused(cutter, std::numeric_limits<double>::quiet_NaN(),
                               "has a coordinate that is not a number");
  const std::vector<double> x{0, 0, 0, 1, 1, 1};
  const std::vector<std::int64_t> weights{1, world().rank() == culprit() ? -1 : 0};
  expect_refused(cutter, x, two_ids(), weights, 2, ErrorCode::bad_input, point_at_fault() + ": has a negative weight");
  expect_refused(cutter, x, two_ids(), {}, 0, ErrorCode::usage, "0 parts: must be at least 1 (ask for 1 or more)");
}

std::int64_t id_of(std::size_t i) { return static_cast<std::int64_t>((i * 7919) % 1'000'003) * 5'000'000'011; }

std::vector<Point> random_points(std::size_t n, std::uint64_t variant) {
  std::mt19937_64 random(seed() + variant);
  std::uniform_real_distribution<double> coordinate(-3.0, 2.0);
  std::vector<Point> points;
  for (std::size_t i = 0; i < n; ++i) {
    points.push_back({{coordinate(random), 0.4 * coordinate(random), 0.9 * coordinate(random)}, id_of(i)});
    if (i > 0 && random() % 4 == 0) points.back().x = points[random() % i].x;  // a point at the position of another
    if (random() % 16 == 0) points.back().x[random() % 3] = -0.0;
    if (random() % 16 == 0) points.back().x[random() % 3] = 0.0;
  }
  return points;
}

void add_weights(std::vector<Point>& points, std::int64_t largest) {
  std::mt19937_64 random(seed() + 77);
  for (Point& point : points)
    point.weight =
        random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(largest + 1));
}

}  // namespace barrio::test
