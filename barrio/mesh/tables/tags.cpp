#include "barrio/mesh/tags.hpp"

#include <algorithm>

#include "barrio/base/memory.hpp"

namespace barrio::mesh {

std::string_view name(TagType type) noexcept {
  static constexpr std::array<std::string_view, 5> names{"int32", "float64", "entity", "bytes", "bits"};
  return names[static_cast<std::size_t>(type)];
}

std::size_t TagInfo::value_bytes() const noexcept {
  const std::size_t n = n_components;
  switch (type) {
    case TagType::int32: return 4 * n;
    case TagType::float64:
    case TagType::entity: return 8 * n;
    case TagType::bytes: return n;
    case TagType::bits: return 1;
  }
  return n;
}

void TagItems::add(std::span<const std::byte> value, bool length_varies) {
  if (length_varies && offsets.empty()) offsets.push_back(0);
  bytes.insert(bytes.end(), value.begin(), value.end());
  if (length_varies) offsets.push_back(bytes.size());
}

std::span<const std::byte> MeshTag::value(Dim dim, LocalId id) const& noexcept {
  const Values& values = on[mesh::index(dim)];
  const auto place = values.entities.place_of(id);
  if (place < 0) return info.default_value;
  return values.items.value(place, info.value_bytes());
}

std::uint64_t MeshTag::memory_bytes() const noexcept {
  std::uint64_t bytes = barrio::memory_bytes(on_sets.sets) + barrio::memory_bytes(on_sets.items.offsets) +
                        barrio::memory_bytes(on_sets.items.bytes);
  for (const Values& values : on)
    bytes += values.entities.memory_bytes() + barrio::memory_bytes(values.items.offsets) +
             barrio::memory_bytes(values.items.bytes);
  return bytes;
}

}  // namespace barrio::mesh
