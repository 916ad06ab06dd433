#pragma once

#include "barrio/adapt/sizes.hpp"

namespace barrio::adapt::detail {

/// Check limits. @throws Error{usage} unless min_size is at least 0 and below max_size, and growth above 0
void check(const SizeLimits& limits);

}  // namespace barrio::adapt::detail
