#include "barrio/adapt/kernel/sizes.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"

namespace barrio::adapt::detail {

float Sizes::inverse(double size, const Point& at) {
  constexpr double least = 1e-37;
  constexpr double most = 1e37;
  if (!(size >= least && size <= most))
    refuse(ErrorCode::bad_input, fmt::format("wanted size {} at ({}, {}, {})", size, at[0], at[1], at[2]),
           size > 0 && std::isfinite(size) ? "must be from 1e-37 to 1e37" : "must be above 0 and finite");
  return static_cast<float>(1.0 / size);
}

float Sizes::inverse_at(const Point& at, float otherwise) const {
  if (has_fault()) return otherwise;
  try {
    return inverse((*function_)(at), at);
  } catch (...) {
    fault_ = std::current_exception();
    return otherwise;
  }
}

}  // namespace barrio::adapt::detail
