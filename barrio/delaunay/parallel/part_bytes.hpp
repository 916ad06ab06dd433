#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "barrio/delaunay/parted.hpp"

namespace barrio::delaunay::detail {

/// Pack a part as bytes, for another rank of this program. Cost: a copy
[[nodiscard]] std::vector<std::byte> pack(const Part& part);
/// Unpack a part. @throws Error{internal} if the bytes are not those of a part
[[nodiscard]] Part unpack(std::span<const std::byte> bytes);

}  // namespace barrio::delaunay::detail
