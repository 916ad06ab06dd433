#pragma once

/// @file Even distribution of rows over ranks in closed form.

#include <cstddef>
#include <cstdint>

#include "barrio/base/ids.hpp"

namespace barrio {

/// Division of rows 0..n_rows into one contiguous slab per rank, as even as possible: rank r has [n_rows * r / n_ranks,
/// n_rows * (r + 1) / n_ranks). Everything is closed form; nothing is stored per rank.
struct Slabs {
  std::int64_t n_rows = 0;  ///< of all ranks
  int n_ranks = 1;          ///< >= 1

  /// Return the first row of a rank; `first(n_ranks)` is the end.
  [[nodiscard]] constexpr std::int64_t first(Rank rank) const noexcept {
    // n * r may exceed 2^63 for large meshes on many ranks, so quotient and remainder are multiplied apart.
    const std::int64_t quotient = n_rows / n_ranks;
    const std::int64_t remainder = n_rows % n_ranks;
    return quotient * rank + remainder * rank / n_ranks;
  }
  /// Return the number of rows of a rank; may be 0.
  [[nodiscard]] constexpr std::size_t size(Rank rank) const noexcept { return first(rank + 1) - first(rank); }
  /// Find the rank whose slab holds a row. @pre 0 <= row < n_rows
  [[nodiscard]] constexpr Rank rank_of(std::int64_t row) const noexcept {
    // Row i of n lies in slab floor(((i + 1) P - 1) / n) in exact arithmetic; rounding puts the guess off by at most
    // one.
    auto guess = static_cast<Rank>((static_cast<double>(row) + 1.0) * n_ranks / static_cast<double>(n_rows));
    if (guess >= n_ranks) guess = n_ranks - 1;
    while (row < first(guess)) --guess;
    while (row >= first(guess + 1)) ++guess;
    return guess;
  }
  /// Find the rank whose slab holds an id. @pre 0 <= value(row) < n_rows
  [[nodiscard]] constexpr Rank rank_of(GlobalId row) const noexcept { return rank_of(value(row)); }
};

}  // namespace barrio
