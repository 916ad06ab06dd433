#pragma once

/// @file Boxes of integer indices: intersection, growth, coarsening and subtraction.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace barrio::geometry {

/// A box in a D-dimensional index space: low[k] .. high[k] - 1 along axis k. Its cells are numbered along the first
/// axis first; that number is called a place. Indices may be negative. All functions are local, cost O(D) and do not
/// allocate unless said.
template <std::size_t D>
struct IndexBox {
  using Index = std::array<std::int64_t, D>;  ///< a cell, by its number along each axis

  Index low{};   ///< lowest cell
  Index high{};  ///< one past the highest cell, along each axis

  /// Return the number of cells along an axis; below 0 if `high` is below `low`.
  [[nodiscard]] constexpr std::int64_t extent(std::size_t axis) const noexcept { return high[axis] - low[axis]; }
  /// Tell whether the box has no cell: no extent along some axis.
  [[nodiscard]] constexpr bool empty() const noexcept;
  /// Return the number of cells; 0 if the box is empty.
  [[nodiscard]] constexpr std::int64_t size() const noexcept;
  /// Tell whether a cell lies in the box.
  [[nodiscard]] constexpr bool contains(const Index& at) const noexcept;
  /// Tell whether this box contains all of another; every box contains an empty one.
  [[nodiscard]] constexpr bool contains(const IndexBox& other) const noexcept;

  /// Return the place of an index. @pre contains(at)
  [[nodiscard]] constexpr std::int64_t place(const Index& at) const noexcept;
  /// Return the index at a place. @pre 0 <= place < size()
  [[nodiscard]] constexpr Index at(std::int64_t place) const noexcept;

  /// Return the intersection. It has no extent along the axes on which the boxes are disjoint.
  [[nodiscard]] constexpr IndexBox intersected(const IndexBox& other) const noexcept;
  /// Return this box moved by a number of cells along each axis.
  [[nodiscard]] constexpr IndexBox shifted(const Index& by) const noexcept;
  /// Return this box grown by `n` cells at both ends of each axis; shrunk if n < 0.
  [[nodiscard]] constexpr IndexBox grown(std::int64_t n) const noexcept;
  /// Return this box grown by `n` cells at both ends of one axis; shrunk if n < 0.
  [[nodiscard]] constexpr IndexBox grown(std::size_t axis, std::int64_t n) const noexcept;
  /// Return the cells of a grid `ratio` times as coarse that overlap this box. @pre ratio >= 1
  [[nodiscard]] constexpr IndexBox coarsened(std::int64_t ratio) const noexcept;
  /// Return the cells of a grid `ratio` times as fine that this box covers. @pre ratio >= 1
  [[nodiscard]] constexpr IndexBox refined(std::int64_t ratio) const noexcept;

  constexpr bool operator==(const IndexBox&) const = default;
};

/// Append the difference `box` minus `taken` to `out`, as at most 2 D disjoint boxes. The slabs at both ends of the
/// last axis come first and span the full width of the other axes. Allocates in `out` only.
template <std::size_t D>
constexpr void subtract(IndexBox<D> box, const IndexBox<D>& taken, std::vector<IndexBox<D>>& out);

/// Return the difference `box` minus all of `taken`, as disjoint boxes. They may be many; O(boxes * taken).
template <std::size_t D>
[[nodiscard]] constexpr std::vector<IndexBox<D>> subtract(const IndexBox<D>& box, std::span<const IndexBox<D>> taken);

// Definitions.

template <std::size_t D>
constexpr bool IndexBox<D>::empty() const noexcept {
  for (std::size_t k = 0; k < D; ++k)
    if (extent(k) <= 0) return true;
  return false;
}

template <std::size_t D>
constexpr std::int64_t IndexBox<D>::size() const noexcept {
  if (empty()) return 0;
  std::int64_t n = 1;
  for (std::size_t k = 0; k < D; ++k) n *= extent(k);
  return n;
}

template <std::size_t D>
constexpr bool IndexBox<D>::contains(const Index& at) const noexcept {
  for (std::size_t k = 0; k < D; ++k)
    if (at[k] < low[k] || at[k] >= high[k]) return false;
  return true;
}

template <std::size_t D>
constexpr bool IndexBox<D>::contains(const IndexBox& other) const noexcept {
  if (other.empty()) return true;
  for (std::size_t k = 0; k < D; ++k)
    if (other.low[k] < low[k] || other.high[k] > high[k]) return false;
  return true;
}

template <std::size_t D>
constexpr std::int64_t IndexBox<D>::place(const Index& at) const noexcept {
  std::int64_t place = 0;
  for (std::size_t k = D; k-- > 0;) place = place * extent(k) + at[k] - low[k];
  return place;
}

template <std::size_t D>
constexpr auto IndexBox<D>::at(std::int64_t place) const noexcept -> Index {
  Index at{};
  for (std::size_t k = 0; k < D; ++k) {
    at[k] = low[k] + place % extent(k);
    place /= extent(k);
  }
  return at;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::intersected(const IndexBox& other) const noexcept {
  IndexBox both;
  for (std::size_t k = 0; k < D; ++k) {
    both.low[k] = std::max(low[k], other.low[k]);
    both.high[k] = std::max(both.low[k], std::min(high[k], other.high[k]));
  }
  return both;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::shifted(const Index& by) const noexcept {
  IndexBox moved = *this;
  for (std::size_t k = 0; k < D; ++k) {
    moved.low[k] += by[k];
    moved.high[k] += by[k];
  }
  return moved;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::grown(std::size_t axis, std::int64_t n) const noexcept {
  IndexBox larger = *this;
  larger.low[axis] -= n;
  larger.high[axis] += n;
  return larger;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::grown(std::int64_t n) const noexcept {
  IndexBox larger = *this;
  for (std::size_t k = 0; k < D; ++k) larger = larger.grown(k, n);
  return larger;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::coarsened(std::int64_t ratio) const noexcept {
  const auto floor = [ratio](std::int64_t i) { return i / ratio - (i % ratio < 0 ? 1 : 0); };
  IndexBox coarse;
  for (std::size_t k = 0; k < D; ++k) {
    coarse.low[k] = floor(low[k]);
    coarse.high[k] = extent(k) <= 0 ? coarse.low[k] : floor(high[k] - 1) + 1;
  }
  return coarse;
}

template <std::size_t D>
constexpr IndexBox<D> IndexBox<D>::refined(std::int64_t ratio) const noexcept {
  IndexBox fine;
  for (std::size_t k = 0; k < D; ++k) {
    fine.low[k] = low[k] * ratio;
    fine.high[k] = high[k] * ratio;
  }
  return fine;
}

template <std::size_t D>
constexpr void subtract(IndexBox<D> box, const IndexBox<D>& taken, std::vector<IndexBox<D>>& out) {
  if (box.empty()) return;
  const IndexBox<D> both = box.intersected(taken);
  if (both.empty()) {
    out.push_back(box);
    return;
  }
  for (std::size_t k = D; k-- > 0;) {
    if (box.low[k] < both.low[k]) {
      out.push_back(box);
      out.back().high[k] = both.low[k];
    }
    if (both.high[k] < box.high[k]) {
      out.push_back(box);
      out.back().low[k] = both.high[k];
    }
    box.low[k] = both.low[k];
    box.high[k] = both.high[k];
  }
}

template <std::size_t D>
constexpr std::vector<IndexBox<D>> subtract(const IndexBox<D>& box, std::span<const IndexBox<D>> taken) {
  std::vector<IndexBox<D>> left;
  if (!box.empty()) left.push_back(box);
  std::vector<IndexBox<D>> next;
  for (const IndexBox<D>& one : taken) {
    next.clear();
    for (const IndexBox<D>& part : left) subtract(part, one, next);
    left.swap(next);
  }
  return left;
}

}  // namespace barrio::geometry
