#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "barrio/base/ids.hpp"
#include "barrio/geometry/index_box.hpp"

namespace barrio::mesh::detail {

/// Copy a row. Most rows are a few words, for which a call would cost more than the copy.
inline void copy_row(std::byte* to, const std::byte* from, std::size_t n_bytes) noexcept {
  constexpr std::size_t word = 8;
  constexpr std::size_t max_by_words = 8 * word;
  if (n_bytes > max_by_words || n_bytes % word != 0) {
    std::memcpy(to, from, n_bytes);
    return;
  }
  for (std::size_t at = 0; at < n_bytes; at += word) std::memcpy(to + at, from + at, word);
}

/// A region of an array over a box, as rows along the first axis.
template <std::size_t D>
struct BoxRows {
  using Number = std::array<std::size_t, D - 1>;  ///< index of a row along the other axes

  std::size_t first = 0;  ///< byte of the first place
  std::size_t row_bytes = 0;
  Number n{};
  Number stride{};  ///< bytes from one row to the next

  BoxRows() = default;
  /// @pre the array's box contains the region
  BoxRows(const geometry::IndexBox<D>& array, const geometry::IndexBox<D>& region, std::size_t place_bytes)
      : first(array.place(region.low) * place_bytes), row_bytes(region.extent(0) * place_bytes) {
    std::size_t bytes = place_bytes;
    for (std::size_t k = 1; k < D; ++k) {
      bytes *= (array.extent(k - 1));
      n[k - 1] = region.extent(k);
      stride[k - 1] = bytes;
    }
  }
  [[nodiscard]] std::size_t n_bytes() const noexcept {
    std::size_t bytes = row_bytes;
    for (const std::size_t rows : n) bytes *= rows;
    return bytes;
  }
  /// Return the offset in bytes of a row's first place.
  [[nodiscard]] std::size_t at(const Number& row) const noexcept {
    std::size_t byte = first;
    for (std::size_t k = 0; k + 1 < D; ++k) byte += row[k] * stride[k];
    return byte;
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    static_assert(D == 2 || D == 3);
    Number row{};
    if constexpr (D == 2) {
      for (; row[0] < n[0]; ++row[0]) visit(row);
    } else {
      for (; row[1] < n[1]; ++row[1])
        for (row[0] = 0; row[0] < n[0]; ++row[0]) visit(row);
    }
  }
};

/// A part of a message: a region of a box, in all arrays of a field.
template <std::size_t D>
struct BoxPiece {
  std::uint32_t field;
  std::int32_t box;
  BoxRows<D> rows;
};

/// A region that one box of this rank copies from another.
template <std::size_t D>
struct BoxCopy {
  std::uint32_t field;
  std::int32_t from_box;
  std::int32_t to_box;
  BoxRows<D> from;
  BoxRows<D> to;
};

template <std::size_t D>
struct BoxMessage {
  Rank peer = 0;
  std::size_t n_bytes = 0;
  std::vector<BoxPiece<D>> pieces;
};

}  // namespace barrio::mesh::detail
