#pragma once

/// @file Stable sort of items by 64-bit keys, byte by byte.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace barrio {

/// Sort items by key, stably, byte by byte from the lowest; bytes in which no two keys differ cost nothing. Local.
/// @param key_of  std::uint64_t(const Item&), or a member of that type
/// Cost: O(n) per byte that differs; twice the memory. Below some 2000 items a comparison sort is faster.
template <class Item, std::invocable<const Item&> KeyOf>
void radix_sort(std::vector<Item>& items, KeyOf&& key_of) {
  if (items.empty()) return;
  std::uint64_t differing = 0;
  for (const Item& item : items) differing |= std::invoke(key_of, item) ^ std::invoke(key_of, items.front());
  std::vector<Item> sorted;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    const auto digit = [&](const Item& item) { return std::invoke(key_of, item) >> shift & 0xffU; };
    if ((differing >> shift & 0xffU) == 0) continue;
    sorted.resize(items.size());
    std::array<std::size_t, 256> place{};
    for (const Item& item : items) place[digit(item)] += 1;
    std::size_t first = 0;
    for (std::size_t& n : place) first += std::exchange(n, first);
    for (const Item& item : items) sorted[place[digit(item)]++] = item;
    items.swap(sorted);
  }
}

}  // namespace barrio
