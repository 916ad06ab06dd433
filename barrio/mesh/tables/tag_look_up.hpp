#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "barrio/mesh/tags.hpp"

namespace barrio::mesh::detail {

/// Index of a tag's values by local id. The tag is borrowed. Memory: 4 bytes per entity, if any has a value.
class TagLookUp {
 public:
  TagLookUp(const MeshTag& tag, Dim dim, std::size_t n_local)
      : values_(tag.on[index(dim)]), value_bytes_(tag.info.value_bytes()) {
    if (values_.entities.empty()) return;
    place_.assign(n_local, -1);
    std::int32_t place = 0;
    for (const LocalId id : values_.entities) place_[index(id)] = place++;
  }
  [[nodiscard]] bool has(std::size_t id) const { return !place_.empty() && place_[id] >= 0; }
  /// Return the value of an entity. @pre has(id)
  [[nodiscard]] std::span<const std::byte> of(std::size_t id) const {
    return values_.items.value(place_[id], value_bytes_);
  }

 private:
  const MeshTag::Values& values_;
  std::size_t value_bytes_;
  std::vector<std::int32_t> place_;
};

}  // namespace barrio::mesh::detail
