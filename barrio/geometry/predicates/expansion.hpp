#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

namespace barrio::geometry::detail {

/// Memory for the numbers of one predicate, released as a whole.
class Scratch {
 public:
  [[nodiscard]] std::pmr::memory_resource* resource() noexcept { return &resource_; }

 private:
  std::array<std::byte, 32768> first_;  // enough for all but the hardest points
  std::pmr::monotonic_buffer_resource resource_{first_.data(), first_.size()};
};

/// An exact number: a sum of non-overlapping, non-zero doubles in ascending order. The last one carries the sign.
class Expansion {
 public:
  /// Make zero.
  explicit Expansion(Scratch& scratch) : scratch_(&scratch), terms_(scratch.resource()) {}
  /// Make a - b.
  Expansion(Scratch& scratch, double a, double b);

  [[nodiscard]] int sign() const noexcept { return terms_.empty() ? 0 : terms_.back() > 0 ? 1 : -1; }
  [[nodiscard]] std::size_t size() const noexcept { return terms_.size(); }

  friend Expansion operator+(const Expansion& a, const Expansion& b);
  friend Expansion operator-(const Expansion& a, const Expansion& b) { return a + b.negated(); }
  friend Expansion operator*(const Expansion& a, const Expansion& b);

 private:
  [[nodiscard]] Expansion negated() const;
  [[nodiscard]] Expansion times(double factor) const;

  Scratch* scratch_;
  std::pmr::vector<double> terms_;
};

/// The exact result of one operation on two doubles.
struct TwoTerms {
  double high;  ///< the rounded result
  double low;   ///< its rounding error
};
[[nodiscard]] TwoTerms two_sum(double a, double b) noexcept;
[[nodiscard]] TwoTerms two_product(double a, double b) noexcept;

}  // namespace barrio::geometry::detail
