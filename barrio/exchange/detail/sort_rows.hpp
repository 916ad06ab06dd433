#pragma once

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace barrio::exchange::detail {

/// Key that a radix sort can take: integers and enumerations.
template <class T>
concept RadixKey = std::integral<T> || std::is_enum_v<T>;

/// Map a key to 64 bits in the same order.
template <RadixKey Key>
constexpr std::uint64_t ordered_bits(Key key) noexcept {
  if constexpr (std::is_enum_v<Key>) {
    return ordered_bits(static_cast<std::underlying_type_t<Key>>(key));
  } else {
    const std::uint64_t bits = static_cast<std::make_unsigned_t<Key>>(key);
    constexpr unsigned n_bits = 8 * sizeof(Key);
    return std::signed_integral<Key> ? bits ^ (std::uint64_t{1} << (n_bits - 1)) : bits;
  }
}

struct KeyedRow {
  std::uint64_t key;
  std::uint64_t row;
};

/// Sort by key, stably, byte by byte from the lowest; bytes in which no two keys differ cost nothing.
/// Cost: O(n) per byte that differs; twice the memory.
void radix_sort(std::vector<KeyedRow>& rows);

/// Number of rows below which a comparison sort is faster.
constexpr std::size_t min_radix_rows = 2048;

/// Order two keys; NaNs have a place in the order too, and zeros are equal.
template <class Key>
std::weak_ordering compare_keys(const Key& a, const Key& b) {
  if constexpr (std::floating_point<Key>) {
    return std::weak_order(a, b);
  } else {
    return a < b ? std::weak_ordering::less : b < a ? std::weak_ordering::greater : std::weak_ordering::equivalent;
  }
}

/// Find the stable lexicographic order of rows by key columns of one length. Local.
/// @return row numbers, in the order of their keys
template <class... Keys>
std::vector<std::size_t> sorted_rows(std::span<const Keys>... columns) {
  const std::tuple<std::span<const Keys>...> keys(columns...);
  const std::size_t n = std::get<0>(keys).size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto is_before = [&](std::size_t a, std::size_t b) {
    std::weak_ordering result = std::weak_ordering::equivalent;
    // The first key that differs decides.
    (void)(std::is_neq(result = compare_keys(columns[a], columns[b])) || ...);
    return std::is_lt(result);
  };
  if (std::is_sorted(order.begin(), order.end(), is_before)) return order;
  if constexpr ((RadixKey<Keys> && ...)) {
    if (n >= min_radix_rows) {
      std::vector<KeyedRow> rows(n);
      for (std::size_t i = 0; i < n; ++i) rows[i].row = i;
      const auto sort_by = [&](const auto& column) {
        for (KeyedRow& row : rows) row.key = ordered_bits(column[row.row]);
        radix_sort(rows);
      };
      // The last key first: each stable sort keeps the order of the ones before where its own keys are equal.
      [&]<std::size_t... Ks>(std::index_sequence<Ks...>) {
        (sort_by(std::get<sizeof...(Ks) - 1 - Ks>(keys)), ...);
      }(std::index_sequence_for<Keys...>{});
      for (std::size_t i = 0; i < n; ++i) order[i] = rows[i].row;
      return order;
    }
  }
  std::stable_sort(order.begin(), order.end(), is_before);
  return order;
}

}  // namespace barrio::exchange::detail
