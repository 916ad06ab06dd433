#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "barrio/base/growing_array.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay::detail {

/// Queue of triangles by the magnitude of a key: smallest first, and among equals the latest, which lies near the one
/// before. The lists are linked through the triangles themselves, so a row waits at most once; it can be removed when
/// it gets another triangle. Memory: 4 bytes a triangle, for the links back.
class TriangleQueue {
 public:
  explicit TriangleQueue(Triangulation& mesh) : mesh_(&mesh) { heads_.fill(-1); }

  /// Add a row. @pre it does not wait
  void push(std::int32_t row, double key) {
    if (static_cast<std::size_t>(row) >= previous_.size()) previous_.resize(mesh_->triangles.size());
    const std::uint32_t bucket = bucket_of(key);
    Triangle& t = mesh_->triangle(row);
    const std::int32_t next = heads_[bucket];
    t.state |= Triangle::queued;
    t.next = next;
    previous_[row] = head_of(bucket);
    if (next >= 0) previous_[next] = row;
    heads_[bucket] = row;
    if (bucket < first_) first_ = bucket;
  }
  /// Remove a row. @pre it waits
  void remove(std::int32_t row) noexcept {
    Triangle& t = mesh_->triangle(row);
    const std::int32_t previous = previous_[row];
    if (t.next >= 0) previous_[t.next] = previous;
    (previous >= 0 ? mesh_->triangle(previous).next : heads_[~previous]) = t.next;
    t.state &= ~Triangle::queued;
  }
  /// Remove the first row. @return it, or -1; it may be unused by now
  [[nodiscard]] std::int32_t pop() noexcept {
    while (first_ < n_buckets && heads_[first_] < 0) ++first_;
    if (first_ == n_buckets) return -1;
    const std::int32_t row = heads_[first_];
    remove(row);
    return row;
  }

 private:
  static constexpr std::uint32_t n_buckets = 4096;
  /// Return the bucket of a key, from its exponent and first fraction bit: two buckets for each factor of two.
  [[nodiscard]] static std::uint32_t bucket_of(double key) noexcept {
    return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(key) >> 51U) & (n_buckets - 1);
  }
  /// Return the link back of the first row of a bucket.
  [[nodiscard]] static std::int32_t head_of(std::uint32_t bucket) noexcept {
    return ~static_cast<std::int32_t>(bucket);
  }

  Triangulation* mesh_;
  GrowingArray<std::int32_t> previous_;  // of each row that waits: the row before, or `head_of` its bucket
  std::array<std::int32_t, n_buckets> heads_{};
  std::uint32_t first_ = n_buckets;
};

}  // namespace barrio::delaunay::detail
