#include "barrio/mesh/tables/order_of_runs.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "barrio/base/radix_sort.hpp"

namespace barrio::mesh::detail {
namespace {

/// Sort places by id, if the ids span less than 2^32. Cost: 16 bytes an id for a while
bool sort_by_radix(std::span<const GlobalId> ids, std::vector<std::int32_t>& order) {
  const auto [low, high] = std::ranges::minmax(ids);
  constexpr unsigned bits = 32;
  if ((index(high) - index(low)) >> bits != 0) return false;
  std::vector<std::uint64_t> words;  // id, place
  words.reserve(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) words.push_back((index(ids[i]) - index(low)) << bits | i);
  radix_sort(words, [](std::uint64_t word) { return word >> bits; });
  std::ranges::transform(words, order.begin(), [](std::uint64_t word) { return static_cast<std::int32_t>(word); });
  return true;
}

}  // namespace

std::vector<std::int32_t> order_of_runs(std::span<const GlobalId> ids) {
  std::vector<std::int32_t> order(ids.size());
  std::iota(order.begin(), order.end(), 0);
  constexpr std::size_t many = 256;
  std::vector<std::ptrdiff_t> ends;
  for (std::size_t i = 1; i < ids.size() && ends.size() <= many; ++i)
    if (ids[i] < ids[i - 1]) ends.push_back(i);
  const auto id = [&](std::int32_t i) { return ids[i]; };
  if (ends.size() > many) {
    if (!sort_by_radix(ids, order)) std::ranges::sort(order, {}, id);
    return order;
  }
  ends.push_back(std::ssize(order));
  while (ends.size() > 1) {  // merge neighbouring runs in pairs
    std::vector<std::ptrdiff_t> longer;
    std::ptrdiff_t first = 0;
    for (std::size_t r = 0; r < ends.size(); r += 2) {
      if (r + 1 < ends.size())
        std::ranges::inplace_merge(order.begin() + first, order.begin() + ends[r], order.begin() + ends[r + 1], {}, id);
      first = ends[std::min(r + 1, ends.size() - 1)];
      longer.push_back(first);
    }
    ends = std::move(longer);
  }
  return order;
}

}  // namespace barrio::mesh::detail
