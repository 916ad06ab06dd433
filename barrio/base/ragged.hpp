#pragma once

/// @file Rows of different lengths in one array (CSR).

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "barrio/base/memory.hpp"

namespace barrio {

/// Rows of different lengths, concatenated in one array.
template <class T, class Offset = std::size_t>
class Ragged {
 public:
  Ragged() = default;

  /// Sort items into their rows, stably. Cost: O(rows + items), two visits.
  /// @param visit_all  called twice as visit_all(put), to call put(row, item) for every item in the same order
  template <class VisitAll>
  static Ragged grouped(std::size_t n_rows, VisitAll&& visit_all) {
    Ragged out;
    out.offsets_.assign(n_rows + 1, 0);
    visit_all([&](std::size_t row, const T&) { out.offsets_[row + 1] += 1; });
    for (std::size_t row = 0; row < n_rows; ++row) out.offsets_[row + 1] += out.offsets_[row];
    out.items_.resize(out.offsets_.back());
    std::vector<Offset> next(out.offsets_.begin(), out.offsets_.end() - 1);
    visit_all([&](std::size_t row, const T& item) { out.items_[next[row]++] = item; });
    return out;
  }

  /// Return the number of rows, empty ones too.
  [[nodiscard]] std::size_t size() const noexcept { return offsets_.size() - 1; }
  [[nodiscard]] std::span<const T> operator[](std::size_t row) const& noexcept {
    return std::span<const T>(items_).subspan(offsets_[row], offsets_[row + 1] - offsets_[row]);
  }
  [[nodiscard]] std::span<T> operator[](std::size_t row) & noexcept {
    return std::span<T>(items_).subspan(offsets_[row], offsets_[row + 1] - offsets_[row]);
  }
  std::span<const T> operator[](std::size_t row) const&& = delete;
  /// Add a row after the last.
  void add(std::span<const T> row) {
    items_.insert(items_.end(), row.begin(), row.end());
    offsets_.push_back(static_cast<Offset>(items_.size()));
  }
  /// Return the items of all rows, concatenated.
  [[nodiscard]] const std::vector<T>& items() const& noexcept { return items_; }
  /// Refuse a temporary, whose items would be gone; see take_items().
  const std::vector<T>& items() const&& = delete;
  /// Take the items of all rows, concatenated; the rows are lost.
  [[nodiscard]] std::vector<T> take_items() && noexcept { return std::move(items_); }
  /// Count the bytes of items and offsets, capacity included.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept {
    return barrio::memory_bytes(offsets_) + barrio::memory_bytes(items_);
  }

 private:
  std::vector<Offset> offsets_{0};
  std::vector<T> items_;
};

}  // namespace barrio
