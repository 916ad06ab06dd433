#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "barrio/mesh/mesh.hpp"

namespace barrio::io::detail {

/// A tag that becomes an array of points or cells.
struct TagArray {
  const mesh::MeshTag* tag;
  mesh::Dim dim;
  bool has_gaps;  ///< some entities have no value, and the tag has no default
};

/// Tags that become arrays, and a notice that names what VTKHDF cannot hold.
struct ChosenTags {
  std::vector<TagArray> arrays;
  std::string notice;  ///< empty if nothing is left out or changed

  [[nodiscard]] bool has(mesh::Dim dim, std::string_view name) const noexcept;
};

/// Choose the numeric tags on vertices and cells, except those with the name of a field. Collective.
/// @param fields  names of the fields that are written, by the dimension of their entities
/// Cost: one reduction of four numbers per tag.
ChosenTags choose_tags(const mesh::Mesh& mesh, std::span<const mesh::FieldData* const> fields);

/// Return the values of all local entities under the name of the array: int32, or float64 with NaN in gaps. Local.
mesh::FieldData values_of(const mesh::Mesh& mesh, const TagArray& array);

/// Return a tag's name as an array in VTKHDF: a '/' would make groups of it, so it becomes '_'.
std::string array_name(std::string name);

/// Return a number for each set of the mesh: its id, or for a material of an id that an earlier one has, a free one.
/// The same on all ranks.
std::vector<std::int32_t> material_numbers(const mesh::Mesh& mesh);

}  // namespace barrio::io::detail
