#include "barrio/partition/rcb.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/partition/points.hpp"

namespace barrio::partition {
namespace {

using test::Point;

/// Bisect recursively, as in a textbook: sort everything, and walk until the lower side has its share.
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
  // Lower side: as many points as possible with at most n_low / n_parts of the whole weight.
  for (; n < points.size() && (before + points[n].weight) * n_parts <= total * n_low; ++n) before += points[n].weight;
  bisect({points.begin(), points.begin() + static_cast<std::ptrdiff_t>(n)}, first_part, n_low, part_of);
  bisect({points.begin() + static_cast<std::ptrdiff_t>(n), points.end()}, first_part + n_low, n_parts - n_low, part_of);
}

std::map<std::int64_t, int> plain(const std::vector<Point>& all, int n_parts) {
  std::map<std::int64_t, int> part_of;
  bisect(all, 0, n_parts, part_of);
  return part_of;
}

void expect_rcb_equals_oracle(const std::vector<Point>& points, int n_parts, bool weighted) {
  test::expect_equals_oracle(rcb, plain, points, n_parts, weighted);
}

TEST(Rcb, EqualsTheSerialOracleOnRandomPoints) {
  for (const int n_parts : {1, 2, 3, 5, 8, 13})
    expect_rcb_equals_oracle(test::random_points(400, n_parts), n_parts, false);
}

TEST(Rcb, EqualsTheSerialOracleOnAGrid) {
  std::vector<Point> points;
  for (int z = 0; z < 5; ++z)
    for (int y = 0; y < 8; ++y)
      for (int x = 0; x < 8; ++x) points.push_back({{x - 4.0, y - 4.0, z * 1.0}, test::id_of(points.size())});
  for (const int n_parts : {2, 4, 6, 7, 16}) expect_rcb_equals_oracle(points, n_parts, false);
}

TEST(Rcb, EqualsTheSerialOracleOnHardCases) { test::expect_equals_oracle_on_hard_cases(rcb, plain); }

TEST(Rcb, PartsAreEquallyHeavy) { test::expect_balance(rcb); }

TEST(Rcb, AFaultOfOneRankIsNamedOnAllRanks) { test::expect_bad_input_is_refused(rcb); }

}  // namespace
}  // namespace barrio::partition
