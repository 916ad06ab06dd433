#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barrio::mesh::detail {

/// Append `f(item)` for each item, in blocks: much faster than one `push_back` per item.
template <class T, class Item, class F>
void append_each(std::vector<T>& out, std::span<const Item> items, F&& f) {
  std::array<T, 512> block;
  while (!items.empty()) {
    const std::size_t n = std::min(block.size(), items.size());
    for (std::size_t i = 0; i < n; ++i) block[i] = f(items[i]);
    out.insert(out.end(), block.begin(), block.begin() + n);
    items = items.subspan(n);
  }
}

/// Call `visit(first, last)` for each run of consecutive places; `last` is inclusive.
template <class Visit>
void for_each_run(std::span<const std::int32_t> places, Visit&& visit) {
  for (std::size_t i = 0; i < places.size();) {
    const std::size_t first = i++;
    while (i < places.size() && places[i] == places[i - 1] + 1) ++i;
    visit(places[first], places[i - 1]);
  }
}

/// Append the items at the given places, of `width` numbers each. Cost: one copy per run of places.
template <class T>
void append_in_order(std::vector<T>& out, const std::vector<T>& items, std::span<const std::int32_t> places,
                     std::size_t width = 1) {
  for_each_run(places, [&](std::size_t first, std::size_t last) {
    const auto begin = items.begin();
    out.insert(out.end(), begin + first * width, begin + (last + 1) * width);
  });
}

}  // namespace barrio::mesh::detail
