#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "barrio/delaunay/parted.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::delaunay::detail {

/// Return the vertices in the interior of an interface, from its first end to its second.
[[nodiscard]] std::span<const std::int32_t> chain_of(const Part& part, std::size_t interface) noexcept;

/// Tell whether a part has the vertices in the interior of an interface to itself, or the other part has them.
[[nodiscard]] inline bool owns_chain(const Part& part, std::size_t interface) noexcept {
  return part.number < part.interfaces[interface].neighbour;
}

/// Count the vertices that this part owns, without those of the decomposition that several parts have.
[[nodiscard]] std::int64_t n_owned_alone(const Part& part) noexcept;

/// List the edges on segments of the input that this part owns: those that lie between two parts belong to the first.
/// As `segment_edges`.
[[nodiscard]] std::vector<SegmentEdge> edges_of(const Part& part);

/// Compute the checksum of the triangles of a part and of the edges on segments that it owns.
[[nodiscard]] std::uint64_t checksum(const Part& part);

}  // namespace barrio::delaunay::detail
