#pragma once

#include <array>
#include <cmath>
#include <exception>
#include <functional>
#include <optional>

#include "barrio/adapt/kernel/tets.hpp"

namespace barrio::adapt::detail {

/// Wanted edge lengths while cells change: a function of the place, or what is linear between the vertices. Local.
class Sizes {
 public:
  using Function = std::function<double(const Point&)>;
  /// Linear between vertices.
  Sizes() = default;
  /// @param function  borrowed; nullptr: linear between vertices
  explicit Sizes(const Function* function) : function_(function) {}

  [[nodiscard]] bool is_linear() const noexcept { return function_ == nullptr; }
  /// Inverse of the size in the middle of an edge.
  [[nodiscard]] double inverse_between(const Vertex& a, const Vertex& b, const Point& middle) const {
    const double linear = 2.0 / (1.0 / a.inverse_size + 1.0 / b.inverse_size);
    return is_linear() ? linear : inverse_at(middle, linear);
  }
  /// Inverse of what the function says. Where it throws, or says no size, rounds have to come to an end first:
  /// `otherwise` takes its place. @pre not linear
  [[nodiscard]] double inverse_at(const Point& at, double otherwise) const;
  /// Throw what the function did wrong first. @throws what it threw, or Error{bad_input} for no size
  void throw_fault() const {
    if (fault_) std::rethrow_exception(fault_);
  }
  [[nodiscard]] bool has_fault() const noexcept { return fault_ != nullptr; }
  /// @throws Error{bad_input} if it is not above 0 and finite
  static void check(double size, const Point& at);

 private:
  const Function* function_ = nullptr;
  mutable std::exception_ptr fault_;
};

}  // namespace barrio::adapt::detail
