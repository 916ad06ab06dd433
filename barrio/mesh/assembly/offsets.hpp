#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace barrio::mesh::detail {

/// Append the end of a row of n items to offsets. @pre the end of the row before is there
inline void append_row(std::vector<std::int32_t>& offsets, std::size_t n) {
  offsets.push_back(offsets.back() + static_cast<std::int32_t>(n));
}

}  // namespace barrio::mesh::detail
