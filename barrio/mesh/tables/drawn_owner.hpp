#pragma once

#include <cstddef>
#include <cstdint>

#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// Which of n sharers, in ascending order, owns an entity: drawn by its global id, so that all of them find the same
/// one without a word. Local.
inline std::size_t drawn_owner(Dim dim, GlobalId id, std::size_t n) noexcept {
  return Hash64(static_cast<std::uint64_t>(value(dim))).add(barrio::value(id)).value() % n;
}

}  // namespace barrio::mesh::detail
