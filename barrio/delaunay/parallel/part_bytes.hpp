#pragma once

#include <cstddef>
#include <span>

#include "barrio/delaunay/parted.hpp"

namespace barrio::delaunay::detail {

/// Pack a part as bytes, for the disk or for another rank of this program. @param to  place for them; null: count them
/// @return their number. Cost: a copy
std::size_t pack(const Part& part, std::byte* to);
/// Unpack a part. @throws Error{internal} if the bytes are not those of a part
[[nodiscard]] Part unpack(std::span<const std::byte> bytes);

}  // namespace barrio::delaunay::detail
