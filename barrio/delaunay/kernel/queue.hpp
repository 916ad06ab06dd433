#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Triangles that wait, by the magnitude of a number: those of the smallest first, and of these the last that came,
/// which lies near the one before. Lists go through the triangles themselves, so that a row waits once.
class TriangleQueue {
 public:
  explicit TriangleQueue(Triangulation& mesh) : mesh_(&mesh) { heads_.fill(-1); }

  /// @pre the row does not wait
  void push(std::int32_t row, double key) noexcept {
    const std::uint32_t bucket = bucket_of(key);
    Triangle& t = mesh_->triangle(row);
    t.state |= Triangle::queued;
    t.next = heads_[bucket];
    heads_[bucket] = row;
    if (bucket < first_) first_ = bucket;
  }
  /// @return a row, which may have become another triangle since, or -1
  [[nodiscard]] std::int32_t pop() noexcept {
    while (first_ < n_buckets && heads_[first_] < 0) ++first_;
    if (first_ == n_buckets) return -1;
    const std::int32_t row = heads_[first_];
    Triangle& t = mesh_->triangle(row);
    heads_[first_] = t.next;
    t.state &= ~Triangle::queued;
    return row;
  }

 private:
  static constexpr std::uint32_t n_buckets = 4096;
  /// Its exponent and the first bit behind it: two buckets for each factor of two.
  [[nodiscard]] static std::uint32_t bucket_of(double key) noexcept {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(key) >> 51U) & (n_buckets - 1);
  }

  Triangulation* mesh_;
  std::array<std::int32_t, n_buckets> heads_{};
  std::uint32_t first_ = n_buckets;
};

}  // namespace barrio::delaunay::detail
