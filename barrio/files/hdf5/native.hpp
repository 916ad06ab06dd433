#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "barrio/files/hdf5.hpp"

namespace barrio::files::detail {

/// Decode a number from its bytes in a file. @param swaps  the file has the other byte order
template <class Number>
Number native(const std::byte* at, bool swaps) {
  std::array<std::byte, sizeof(Number)> bytes{};
  std::memcpy(bytes.data(), at, sizeof(Number));
  if (swaps) std::reverse(bytes.begin(), bytes.end());
  return std::bit_cast<Number>(bytes);
}

/// Compute the run of `rows` in each dimension; a single value counts as one row. @throws Error{bad_input} naming
/// `path` if they do not exist
std::vector<Run> checked_runs(Rows rows, std::span<const std::int64_t> shape, const std::string& path);

}  // namespace barrio::files::detail
