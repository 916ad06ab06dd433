#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Queue of triangles by the magnitude of a key: smallest first, and among equals the latest, which lies near the one
/// before. The lists are linked through the triangles themselves, so a row waits at most once.
class TriangleQueue {
 public:
  explicit TriangleQueue(Triangulation& mesh) : mesh_(&mesh) { heads_.fill(-1); }

  /// Add a row. @pre it does not wait
  void push(std::int32_t row, double key) noexcept {
    const std::uint32_t bucket = bucket_of(key);
    Triangle& t = mesh_->triangle(row);
    t.state |= Triangle::queued;
    t.next = heads_[bucket];
    heads_[bucket] = row;
    if (bucket < first_) first_ = bucket;
  }
  /// Remove the first row. @return it, or -1; it may hold another triangle by now
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
  /// Return the bucket of a key, from its exponent and first fraction bit: two buckets for each factor of two.
  [[nodiscard]] static std::uint32_t bucket_of(double key) noexcept {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(key) >> 51U) & (n_buckets - 1);
  }

  Triangulation* mesh_;
  std::array<std::int32_t, n_buckets> heads_{};
  std::uint32_t first_ = n_buckets;
};

}  // namespace barrio::delaunay::detail
