#include "barrio/delaunay/kernel/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/hash.hpp"
#include "barrio/geometry/hilbert_place.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr int bits_of_place = 29;  // per coordinate: a position takes 58 bits, a round 5
constexpr std::size_t min_round = 1000;

struct Keyed {
  std::uint64_t key;
  std::int32_t point;
};

/// Sort by the bits of the keys from `first_bit` on, 11 at a time: a count and a pass each.
void sort_by_bits(std::vector<Keyed>& items, int first_bit, int last_bit) {
  constexpr int digit_bits = 11;
  std::vector<Keyed> other(items.size());
  for (int shift = first_bit; shift < last_bit; shift += digit_bits) {
    std::array<std::size_t, 1U << digit_bits> starts{};
    const auto digit = [shift](const Keyed& item) { return (item.key >> shift) & ((1U << digit_bits) - 1); };
    for (const Keyed& item : items) ++starts[digit(item)];
    std::size_t sum = 0;
    for (std::size_t& start : starts) start = std::exchange(sum, sum + start);
    for (const Keyed& item : items) other[starts[digit(item)]++] = item;
    items.swap(other);
  }
}

/// Positions along a Hilbert curve through the box around some points.
class Curve {
 public:
  Curve(std::span<const Point> points, std::span<const Keyed> items) : points_(points) {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    low_ = {infinity, infinity};
    Point high{-infinity, -infinity};
    for (const Keyed& item : items) {
      for (std::size_t d = 0; d < 2; ++d) {
        low_[d] = std::min(low_[d], points[item.point][d]);
        high[d] = std::max(high[d], points[item.point][d]);
      }
    }
    const double width = std::max(high[0] - low_[0], high[1] - low_[1]);
    scale_ = width > 0 ? (std::ldexp(1.0, bits_of_place) - 1) / width : 0.0;
  }

  /// Tell whether the points differ by so much that cells of the box can tell them apart.
  [[nodiscard]] bool has_extent() const noexcept { return scale_ > 0 && std::isfinite(scale_); }
  [[nodiscard]] std::uint64_t place(std::int32_t point) const noexcept {
    const Point& p = points_[point];
    const std::array<std::uint64_t, 2> cell{static_cast<std::uint64_t>((p[0] - low_[0]) * scale_),
                                            static_cast<std::uint64_t>((p[1] - low_[1]) * scale_)};
    return geometry::hilbert_place(cell, bits_of_place);
  }

 private:
  std::span<const Point> points_;
  Point low_{};
  double scale_ = 0.0;
};

/// Call a function with each run of two or more items whose keys agree from a bit on.
template <class Function>
void for_each_run(std::span<Keyed> items, int first_bit, Function&& function) {
  for (std::size_t first = 0; first < items.size();) {
    std::size_t last = first + 1;
    while (last < items.size() && items[last].key >> first_bit == items[first].key >> first_bit) ++last;
    if (last - first > 1) function(items.subspan(first, last - first));
    first = last;
  }
}

/// Sort items of one cell along a curve through their own box: points may lie much nearer to each other than the size
/// of a cell if one is far away.
void sort_within_cells(std::span<const Point> points, std::span<Keyed> items) {
  constexpr std::size_t few = 16;
  for_each_run(items, 0, [&](std::span<Keyed> cell) {
    if (cell.size() <= few) return;
    const Curve curve(points, cell);
    if (!curve.has_extent()) return;
    for (Keyed& item : cell) item.key = curve.place(item.point);
    std::ranges::sort(cell, {}, &Keyed::key);
    sort_within_cells(points, cell);
  });
}

}  // namespace

std::vector<std::int32_t> insertion_order(std::span<const Point> points) {
  int n_rounds = 1;  // the last round has 3/4 of the points, the one before 3/4 of the rest
  for (std::size_t n = points.size(); n > min_round; n /= 4) ++n_rounds;

  std::vector<Keyed> items(points.size());
  for (std::int32_t i = 0; i < std::ssize(points); ++i) items[i].point = i;
  const Curve curve(points, items);
  for (Keyed& item : items) {
    const int before_last = std::min(std::countr_zero(mix64(item.point)) / 2, n_rounds - 1);
    const std::uint64_t round = n_rounds - 1 - before_last;
    item.key = (round << (2 * bits_of_place)) | curve.place(item.point);
  }
  // the leading bits tell most points apart
  const int n_leading = std::min(2 * bits_of_place, static_cast<int>(std::bit_width(points.size())) + 4);
  const int first_bit = 2 * bits_of_place - n_leading;
  sort_by_bits(items, first_bit, 2 * bits_of_place + std::bit_width(static_cast<unsigned>(n_rounds)));
  for_each_run(items, first_bit, [](std::span<Keyed> run) { std::ranges::sort(run, {}, &Keyed::key); });
  sort_within_cells(points, items);
  std::vector<std::int32_t> order(points.size());
  std::ranges::transform(items, order.begin(), &Keyed::point);
  return order;
}

}  // namespace barrio::delaunay::detail
