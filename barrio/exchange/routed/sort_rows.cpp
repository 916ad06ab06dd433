#include "barrio/exchange/detail/sort_rows.hpp"

#include "barrio/base/radix_sort.hpp"

namespace barrio::exchange::detail {

void radix_sort(std::vector<KeyedRow>& rows) { barrio::radix_sort(rows, &KeyedRow::key); }

}  // namespace barrio::exchange::detail
