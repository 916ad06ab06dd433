#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "barrio/delaunay/parted.hpp"
#include "barrio/mobile/packing.hpp"

namespace barrio::delaunay::detail {

/// Pack a part as bytes, for the disk or for another rank of this program. @param to  place for them; null: count them
/// @return their number. Cost: a copy
std::size_t pack(const Part& part, std::byte* to);
/// Unpack a part. @throws Error{internal} if the bytes are not those of a part
[[nodiscard]] Part unpack(std::span<const std::byte> bytes);

}  // namespace barrio::delaunay::detail

/// A part is packed as spans of its arrays.
template <>
struct barrio::mobile::Packing<barrio::delaunay::Part> {
  [[nodiscard]] static std::uint64_t layout() { return 1; }
  [[nodiscard]] static std::size_t bytes(const delaunay::Part& part) { return delaunay::detail::pack(part, nullptr); }
  static void pack(const delaunay::Part& part, std::byte* to) { delaunay::detail::pack(part, to); }
  [[nodiscard]] static delaunay::Part unpack(std::span<const std::byte> from) { return delaunay::detail::unpack(from); }
  [[nodiscard]] static std::uint64_t memory_bytes(const delaunay::Part& part) noexcept {
    return part.mesh.memory_bytes() + part.interfaces.capacity() * sizeof(delaunay::Interface) +
           (part.angles.capacity() + part.chains.capacity() + part.chain_end.capacity()) * sizeof(std::int32_t) +
           part.shared.capacity() * sizeof(delaunay::SharedVertex);
  }
};
