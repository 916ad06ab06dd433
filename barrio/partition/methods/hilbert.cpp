#include "barrio/partition/hilbert.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "barrio/base/radix_sort.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/geometry/hilbert_place.hpp"
#include "barrio/partition/methods/bisect.hpp"
#include "barrio/partition/methods/fit_weights.hpp"

namespace barrio::partition {
namespace {

using detail::Key;
using detail::Run;

struct CurvePoint {
  Key key;  // by the place on the curve
  std::int64_t weight;
  Rank home;
  LocalId place;
};

/// Bisection along the curve. Shares refer to the total weight, so no cut depends on another.
class AlongCurve {
 public:
  AlongCurve(std::int64_t total, int n_parts) : total_(total), n_parts_(n_parts) {}
  void look(mpi::Context*, std::span<const CurvePoint>) const noexcept {}
  [[nodiscard]] Key key(const CurvePoint& point) const noexcept { return point.key; }
  [[nodiscard]] std::int64_t lower_share(const Run& run, int n_low, std::int64_t) const noexcept {
    return detail::share_of(total_, run.first_part + n_low, n_parts_) - run.weight_before;
  }

 private:
  std::int64_t total_;
  int n_parts_;
};

/// The grid that the curve fills: it covers the axes along which the points differ, with the same spacing on all.
class Grid {
 public:
  /// Fit the grid to the points of all ranks. Collective.
  Grid(mpi::Context& context, std::span<const double> points) {
    std::array<double, 6> box;  // minima, then negated maxima: one reduction suffices
    box.fill(std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < points.size(); ++i) {
      box[i % 3] = std::min(box[i % 3], points[i]);
      box[i % 3 + 3] = std::min(box[i % 3 + 3], -points[i]);
    }
    mpi::all_reduce(context, std::span<double>(box), MPI_MIN);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      low_[axis] = 0.5 * box[axis];
      const double extent = -0.5 * box[axis + 3] - low_[axis];  // half the extent: the full one may overflow
      if (extent > 0.0) axes_[n_axes_++] = axis;
      half_side_ = std::max(half_side_, extent);
    }
    if (n_axes_ > 0) n_bits_ = std::min(63 / n_axes_, std::numeric_limits<double>::digits - 1);
  }
  [[nodiscard]] std::uint64_t place(std::span<const double> x) const noexcept {
    std::array<std::uint64_t, 3> cell{};
    for (int i = 0; i < n_axes_; ++i) {
      const double fraction = (0.5 * x[axes_[i]] - low_[axes_[i]]) / half_side_;
      const auto row = static_cast<std::uint64_t>(std::ldexp(fraction, n_bits_));
      cell[i] = std::min(row, (std::uint64_t{1} << n_bits_) - 1);
    }
    return n_axes_ == 0 ? 0 : geometry::hilbert_place(std::span(cell).first(n_axes_), n_bits_);
  }

 private:
  std::array<double, 3> low_{};  // half the lower corner
  double half_side_ = 0.0;
  std::array<std::size_t, 3> axes_{};
  int n_axes_ = 0;
  int n_bits_ = 0;
};

}  // namespace

namespace {

std::vector<CurvePoint> on_curve(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                                 std::span<const std::int64_t> weights) {
  const Grid grid(context, points);
  std::vector<CurvePoint> marked(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    marked[i] = {{grid.place(points.subspan(3 * i, 3)), index(ids[i])},
                 weights.empty() ? 1 : weights[i],
                 context.rank(),
                 local_id(i)};
  }
  return marked;
}

std::vector<std::int32_t> cut_curve(mpi::Context& context, std::vector<CurvePoint> points, int n_parts) {
  const std::int64_t total = mpi::sum(context, detail::total_weight<CurvePoint>(points));
  return detail::bisect(context, std::move(points), n_parts, AlongCurve(total, n_parts));
}

}  // namespace

std::vector<std::int32_t> hilbert(mpi::Context& context, std::span<const double> points, std::span<const GlobalId> ids,
                                  std::span<const std::int64_t> weights, int n_parts) {
  detail::check_points(context, points, ids, weights, n_parts, true);
  weights = detail::weights_that_count(context, weights);
  return cut_curve(context, on_curve(context, points, ids, weights), n_parts);
}

namespace {

struct PlaceOnCurve {
  std::uint64_t place;
  LocalId row;
};

/// Number keys by their order, starting at `first`.
std::vector<GlobalId> numbered(std::span<const Key> keys, std::int64_t first) {
  std::vector<PlaceOnCurve> sorted;
  sorted.reserve(keys.size());
  for (const Key& key : keys) sorted.push_back({key.word, local_id(sorted.size())});
  // Few points share the leading bits of their places: all bits, and then ids, decide about these.
  constexpr unsigned trailing_bits = 24;
  radix_sort(sorted, [](const PlaceOnCurve& one) { return one.place >> trailing_bits; });
  for (std::size_t begin = 0; begin < sorted.size();) {
    std::size_t end = begin + 1;
    while (end < sorted.size() && sorted[end].place >> trailing_bits == sorted[begin].place >> trailing_bits) ++end;
    if (end - begin > 1)
      std::ranges::sort(std::span(sorted).subspan(begin, end - begin), {}, [&](const PlaceOnCurve& one) {
        return std::tuple(one.place, keys[index(one.row)].id, one.row);
      });
    begin = end;
  }
  std::vector<GlobalId> numbers(keys.size());
  for (std::size_t i = 0; i < sorted.size(); ++i) numbers[index(sorted[i].row)] = global_id(i) + first;
  return numbers;
}

}  // namespace

std::vector<GlobalId> hilbert_numbers(mpi::Context& context, std::span<const double> points,
                                      std::span<const GlobalId> ids) {
  detail::check_points(context, points, ids, {}, context.size(), true);
  std::vector<Key> keys;
  keys.reserve(ids.size());
  if (context.size() == 1) {  // this rank has the whole curve
    const Grid grid(context, points);
    for (std::size_t i = 0; i < ids.size(); ++i) keys.push_back({grid.place(points.subspan(3 * i, 3)), index(ids[i])});
    return numbered(keys, 0);
  }
  std::vector<CurvePoint> marked = on_curve(context, points, ids, {});
  for (const CurvePoint& point : marked) keys.push_back(point.key);
  // Part p of the curve is sorted and numbered on rank p.
  const std::vector<std::int32_t> parts = cut_curve(context, std::move(marked), context.size());
  return exchange::ask_together(context, std::span<const Rank>(parts), keys, [&](const exchange::Parcels<Key>& asked) {
    return numbered(asked.items, mpi::exclusive_sum(context, std::ssize(asked.items)));
  });
}

}  // namespace barrio::partition
