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
  [[nodiscard]] float inverse_between(const Vertex& a, const Vertex& b, const Point& midpoint) const {
    const double p = a.inverse_size;
    const double q = b.inverse_size;
    const auto linear = static_cast<float>(2.0 / (1.0 / p + 1.0 / q));
    return is_linear() ? linear : inverse_at(midpoint, linear);
  }
  /// Return the inverse of the function's size, or `otherwise` if it throws or its size is invalid: rounds must come to
  /// an end before that is thrown. @pre not linear
  [[nodiscard]] float inverse_at(const Point& at, float otherwise) const;
  /// Throw the first fault of the function. @throws what it threw, or Error{bad_input} for an invalid size
  void throw_fault() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  [[nodiscard]] bool has_fault() const noexcept { return fault_ != nullptr; }
  /// Return the inverse of a size. @throws Error{bad_input} unless it is from 1e-37 to 1e37
  static float inverse(double size, const Point& at);

 private:
  const Function* function_ = nullptr;
  mutable std::exception_ptr fault_;
};

}  // namespace barrio::adapt::detail
