#pragma once

#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// Wanted edge lengths while cells change: a function of the point, or linear between the vertices. Local.
class Sizes {
 public:
  using Function = std::function<double(const Point&)>;
  /// Construct sizes that are linear between vertices.
  Sizes() = default;
  /// @param function  borrowed; nullptr: linear between vertices
  explicit Sizes(const Function* function) : function_(function) {}

  [[nodiscard]] bool is_linear() const noexcept { return function_ == nullptr; }
  /// Return the inverse of the size at the midpoint of an edge.
  [[nodiscard]] double inverse_between(const Vertex& a, const Vertex& b, const Point& midpoint) const {
    const double linear = 2.0 / (1.0 / a.inverse_size + 1.0 / b.inverse_size);
    return is_linear() ? linear : inverse_at(midpoint, linear);
  }
  /// Return the inverse of the function's size, or `otherwise` if it throws or its size is invalid: rounds must come to
  /// an end before that is thrown. @pre not linear
  [[nodiscard]] double inverse_at(const Point& at, double otherwise) const;
  /// Throw the first fault of the function. @throws what it threw, or Error{bad_input} for an invalid size
  void throw_fault() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  [[nodiscard]] bool has_fault() const noexcept { return fault_ != nullptr; }
  /// Check a size. @throws Error{bad_input} if it is not above 0 and finite
  static void check(double size, const Point& at);

 private:
  const Function* function_ = nullptr;
  mutable std::exception_ptr fault_;
};

}  // namespace barrio::adapt::detail
