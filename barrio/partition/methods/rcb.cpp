#include "barrio/partition/rcb.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

#include "barrio/partition/methods/bisect.hpp"
#include "barrio/partition/methods/fit_weights.hpp"

namespace barrio::partition {
namespace {

using detail::Key;
using detail::Run;

struct Point {
  std::array<double, 3> x;
  std::uint64_t id;
  std::int64_t weight;
  Rank home;
  LocalId place;
};

/// Map doubles to unsigned integers of the same order.
std::uint64_t word_of(double x) noexcept {
  const auto bits = std::bit_cast<std::uint64_t>(x + 0.0);
  constexpr std::uint64_t sign = std::uint64_t{1} << 63U;
  return (bits & sign) != 0 ? ~bits : bits | sign;
}

/// Bisection across the longest side of the bounding box.
class AcrossLongestSide {
 public:
  void look(mpi::Context* group, std::span<const Point> points) {
    std::array<double, 6> box;  // minima, then negated maxima: one reduction suffices
    box.fill(std::numeric_limits<double>::infinity());
    for (const Point& point : points) {
      for (std::size_t axis = 0; axis < 3; ++axis) {
        box[axis] = std::min(box[axis], point.x[axis]);
        box[axis + 3] = std::min(box[axis + 3], -point.x[axis]);
      }
    }
    if (group != nullptr) mpi::all_reduce(*group, std::span<double>(box), MPI_MIN);
    axis_ = 0;
    for (std::size_t axis = 1; axis < 3; ++axis)
      if (-box[axis + 3] - box[axis] > -box[axis_ + 3] - box[axis_]) axis_ = axis;
  }
  [[nodiscard]] Key key(const Point& point) const noexcept { return {word_of(point.x[axis_]), point.id}; }
  [[nodiscard]] std::int64_t lower_share(const Run& run, int n_low, std::int64_t total) const noexcept {
    return detail::share_of(total, n_low, run.n_parts);
  }

 private:
  std::size_t axis_ = 0;
};

}  // namespace

std::vector<std::int32_t> rcb(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                              std::span<const std::int64_t> weights, int n_parts) {
  detail::check_points(context, points, ids, weights, n_parts, false);
  weights = detail::weights_that_count(context, weights);
  std::vector<Point> marked(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    marked[i] = {{points[3 * i], points[3 * i + 1], points[3 * i + 2]},
                 index(ids[i]),
                 weights.empty() ? 1 : weights[i],
                 context.rank(),
                 local_id(i)};
  }
  return detail::bisect(context, std::move(marked), n_parts, AcrossLongestSide{});
}

}  // namespace barrio::partition
