#pragma once

#include "barrio/adapt/sizes.hpp"

namespace barrio::adapt::detail {

/// @throws Error{usage} for limits that are none: finest not below largest, growth not above 0
void check(const SizeLimits& limits);

}  // namespace barrio::adapt::detail
