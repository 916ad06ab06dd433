#include "barrio/files/detail/growing_column.hpp"

#include <algorithm>

namespace barrio::files::detail {

void GrowingColumn::append(FileWriter& file, const std::string& place, hid_t type, std::int64_t row_size,
                           std::int64_t n_rows, bool is_series) {
  constexpr std::int64_t largest_chunk = 1 << 16;  // in rows
  first = n;
  n += n_rows;
  if (!is_series) {
    rows = file.make_rows(place, type, n_rows, row_size);
    return;
  }
  if (!rows) rows = file.make_growing(place, type, row_size, std::clamp<std::int64_t>(n_rows, 1, largest_chunk));
  file.grow(rows, n);
}

}  // namespace barrio::files::detail
