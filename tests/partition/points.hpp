#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::test {

struct Point {
  std::array<double, 3> x;
  std::int64_t id;
  std::int64_t weight = 1;
};

/// A partitioner by coordinates, such as partition::rcb.
using Cutter = std::function<std::vector<std::int32_t>(mpi::Context&, std::span<const double>,
                                                       std::span<const GlobalId>, std::span<const std::int64_t>, int)>;
/// A serial reference: all points at once, parts by id.
using Oracle = std::function<std::map<std::int64_t, int>(std::vector<Point>, int n_parts)>;

enum class Spread { slabs, scattered, first_rank, last_rank, odd_ranks };

/// Partition all points, spread over the ranks in some way. Return the parts of this rank's points, by id.
std::map<std::int64_t, int> cut(const Cutter& cutter, const std::vector<Point>& points, Spread spread, int n_parts,
                                bool weighted);

/// Expect the oracle's parts for every spread of the points over the ranks.
void expect_equals_oracle(const Cutter& cutter, const Oracle& oracle, const std::vector<Point>& points, int n_parts,
                          bool weighted);

/// Do this with weights of all sizes and all weight in one point, more parts than points, and all points in one place.
void expect_equals_oracle_on_hard_cases(const Cutter& cutter, const Oracle& oracle);

/// Expect that parts of points of weight 1 differ by at most one point, and others by the weight of a point or two.
void expect_balance(const Cutter& cutter);

/// Expect that a NaN, a negative weight and a number of parts below 1 on any rank are refused by name on all ranks.
void expect_bad_input_is_refused(const Cutter& cutter);
/// Expect that a coordinate of one point on any rank is refused on all ranks, with this cause.
void expect_coordinate_is_refused(const Cutter& cutter, double coordinate, const std::string& cause);

/// Return the id of a point. Ids are unique, not dense, not in the order of the points, and beyond 32 bits.
std::int64_t id_of(std::size_t i);
/// Make random points. Some coincide, some are on an axis.
std::vector<Point> random_points(std::size_t n, std::uint64_t variant);
/// Give each point a weight up to `largest`; a third get 0.
void add_weights(std::vector<Point>& points, std::int64_t largest);

}  // namespace barrio::test
