#pragma once

#include <cstddef>
#include <cstdint>

#include "barrio/base/hash.hpp"
#include "barrio/base/ids.hpp"
#include "barrio/mesh/cell_type.hpp"

namespace barrio::mesh::detail {

/// Choose which of n sharers, in ascending order, owns an entity. A hash of the global id decides, so all sharers make
/// the same choice without communication. Local.
inline std::size_t drawn_owner(Dim dim, GlobalId id, std::size_t n) noexcept {
  return Hash64(index(dim)).add(barrio::value(id)).value() % n;
}

}  // namespace barrio::mesh::detail
