#pragma once

#include <memory>

#include "barrio/delaunay/size_field.hpp"

namespace barrio::delaunay {

/// Interface of the data of a size field. Immutable.
class SizeField::Core : public std::enable_shared_from_this<SizeField::Core> {
 public:
  Core() = default;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;
  virtual ~Core() = default;

  /// Return the wanted length at a position; infinity where nothing is wanted.
  [[nodiscard]] virtual double at(const Point& place) const = 0;
  [[nodiscard]] virtual bool is_below(const Corners& corners, double length) const = 0;
  /// Return the field with limited growth, or null if its growth is limited enough already.
  [[nodiscard]] virtual std::shared_ptr<const Core> limited(double growth, const Rectangle& domain) const = 0;
};

namespace detail {

/// A field whose values differ by at most a factor times the distance.
class SmoothCore : public SizeField::Core {
 public:
  explicit SmoothCore(double growth) noexcept : growth_(growth) {}
  [[nodiscard]] double growth() const noexcept { return growth_; }
  [[nodiscard]] bool is_below(const SizeField::Corners& corners, double length) const final;
  /// Return a bound from below of the sizes within a distance of a position. @param here  the size at the position
  [[nodiscard]] virtual double lowest(const Point& /*place*/, double here, double distance) const {
    return here - growth_ * distance;
  }

 private:
  double growth_;
};

/// Return a value of a function that gives sizes. @throws Error{bad_input} if it is not above 0
[[nodiscard]] double checked_size(double size, const Point& place);

/// Refuse a growth that is not above 0. @throws Error{usage}
void check_growth(double growth);

/// Make a field with limited growth from samples of a function, at positions in the rectangle and at given ones.
[[nodiscard]] std::shared_ptr<const SizeField::Core> limit_by_samples(const std::function<double(const Point&)>& size,
                                                                      double growth, const Rectangle& domain,
                                                                      std::span<const Point> more);

}  // namespace detail
}  // namespace barrio::delaunay
