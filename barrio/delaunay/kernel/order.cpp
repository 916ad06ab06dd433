#include "barrio/delaunay/kernel/order.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

#include "barrio/base/hash.hpp"
#include "barrio/geometry/hilbert_place.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr int bits_of_place = 21;  // per coordinate: a position takes 42 bits, a round 5, and 17 are left
constexpr std::size_t min_round = 1000;

struct Keyed {
  std::uint64_t key;
  std::int32_t point;
};

/// Sort by the lowest `n_bits` bits of the keys, 11 at a time: a count and a pass each.
void sort_by_bits(std::vector<Keyed>& items, int n_bits) {
  constexpr int digit_bits = 11;
  std::vector<Keyed> other(items.size());
  for (int shift = 0; shift < n_bits; shift += digit_bits) {
    std::array<std::size_t, 1U << digit_bits> starts{};
    const auto digit = [shift](const Keyed& item) { return (item.key >> shift) & ((1U << digit_bits) - 1); };
    for (const Keyed& item : items) ++starts[digit(item)];
    std::size_t sum = 0;
    for (std::size_t& start : starts) start = std::exchange(sum, sum + start);
    for (const Keyed& item : items) other[starts[digit(item)]++] = item;
    items.swap(other);
  }
}

}  // namespace

std::vector<std::int32_t> insertion_order(std::span<const Point> points) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Point low{infinity, infinity};
  Point high{-infinity, -infinity};
  for (const Point& p : points) {
    for (std::size_t d = 0; d < 2; ++d) {
      low[d] = std::min(low[d], p[d]);
      high[d] = std::max(high[d], p[d]);
    }
  }
  const double width = std::max(high[0] - low[0], high[1] - low[1]);
  const double scale = width > 0 ? (std::ldexp(1.0, bits_of_place) - 1) / width : 0.0;
  int n_rounds = 1;  // the last round has 3/4 of the points, the one before 3/4 of the rest
  for (std::size_t n = points.size(); n > min_round; n /= 4) ++n_rounds;

  std::vector<Keyed> items(points.size());
  for (std::int32_t i = 0; i < std::ssize(points); ++i) {
    const std::array<std::uint64_t, 2> cell{static_cast<std::uint64_t>((points[i][0] - low[0]) * scale),
                                            static_cast<std::uint64_t>((points[i][1] - low[1]) * scale)};
    const int before_last = std::min(std::countr_zero(mix64(i)) / 2, n_rounds - 1);
    const std::uint64_t round = n_rounds - 1 - before_last;
    items[i] = {(round << (2 * bits_of_place)) | geometry::hilbert_place(cell, bits_of_place), i};
  }
  sort_by_bits(items, 2 * bits_of_place + std::bit_width(static_cast<unsigned>(n_rounds)));
  std::vector<std::int32_t> order(points.size());
  std::ranges::transform(items, order.begin(), &Keyed::point);
  return order;
}

}  // namespace barrio::delaunay::detail
