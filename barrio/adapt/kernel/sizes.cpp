#include "barrio/adapt/kernel/sizes.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"

namespace barrio::adapt::detail {

void Sizes::check(double size, const Point& at) {
  if (!(size > 0) || !std::isfinite(size))
    refuse(ErrorCode::bad_input, fmt::format("wanted size {} at ({}, {}, {})", size, at[0], at[1], at[2]),
           "must be above 0 and finite");
}

double Sizes::inverse_at(const Point& at, double otherwise) const {
  if (has_fault()) return otherwise;
  try {
    const double size = (*function_)(at);
    check(size, at);
    return 1.0 / size;
  } catch (...) {
    fault_ = std::current_exception();
    return otherwise;
  }
}

}  // namespace barrio::adapt::detail
