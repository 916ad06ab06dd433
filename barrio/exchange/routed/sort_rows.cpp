#include "barrio/exchange/detail/sort_rows.hpp"

#include <array>

namespace barrio::exchange::detail {

void radix_sort(std::vector<KeyedRow>& rows) {
  std::uint64_t differing = 0;
  for (const KeyedRow& row : rows) differing |= row.key ^ rows.front().key;
  std::vector<KeyedRow> sorted;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    if ((differing >> shift & 0xffU) == 0) continue;
    sorted.resize(rows.size());
    std::array<std::size_t, 256> place{};
    for (const KeyedRow& row : rows) place[row.key >> shift & 0xffU] += 1;
    std::size_t first = 0;
    for (std::size_t& n : place) first += std::exchange(n, first);
    for (const KeyedRow& row : rows) sorted[place[row.key >> shift & 0xffU]++] = row;
    rows.swap(sorted);
  }
}

}  // namespace barrio::exchange::detail
