#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace barrio::mesh::detail {

/// Append `f(item)` for each item, by blocks: this takes a fraction of the time of one `push_back` each.
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

}  // namespace barrio::mesh::detail
