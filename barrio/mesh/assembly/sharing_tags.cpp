#include "barrio/mesh/sharing_tags.hpp"

#include <cstring>

namespace barrio::mesh {
namespace {

enum Column : std::size_t { status, owner, sharers, interfaces, n_columns };

void add(MeshTag::Values& values, std::span<const std::int32_t> numbers, bool length_varies) {
  values.items.add(std::as_bytes(numbers), length_varies);
}

/// Add the values on the entities of one dimension.
/// @pre the mesh has entities of this dimension
void add_dimension(const Mesh& mesh, Dim dim, std::vector<MeshTag>& tags) {
  const auto d = index(dim);
  const std::size_t n = mesh.n_local(dim);
  const Range all{LocalRange{LocalId{0}, local_id(n)}};
  for (const Column column : {status, owner, sharers}) tags[column].on[d].entities = all;
  for (std::size_t i = 0; i < n; ++i) {
    const EntityStatus of = mesh.status(dim, local_id(i));
    std::int32_t bits = of.is_owned ? 0 : StatusBit::not_owned;
    if (of.is_shared()) bits |= StatusBit::shared;
    if (of.is_multi_shared()) bits |= StatusBit::multi_shared;
    if (of.is_ghost) bits |= StatusBit::ghost;
    add(tags[status].on[d], {&bits, 1}, false);
    add(tags[owner].on[d], {&of.owner, 1}, false);
    add(tags[sharers].on[d], of.sharers, true);
  }
  std::vector<std::int32_t> interface_of(n, -1);
  const std::vector<Interface> all_interfaces = mesh.interfaces(dim);
  for (std::int32_t i = 0; i < std::ssize(all_interfaces); ++i)
    for (const LocalId id : all_interfaces[i].entities) interface_of[index(id)] = i;
  for (const LocalId id : mesh.sharing(dim).shared) {
    tags[interfaces].on[d].entities.insert(id);
    add(tags[interfaces].on[d], {&interface_of[index(id)], 1}, false);
  }
}

}  // namespace

std::vector<MeshTag> sharing_tags(const Mesh& mesh) {
  std::vector<MeshTag> tags(n_columns);
  tags[status].info = {.name = "status"};
  tags[owner].info = {.name = "owner"};
  tags[sharers].info = {.name = "sharers", .length_varies = true};
  tags[interfaces].info = {.name = "interface", .storage = TagStorage::sparse};
  constexpr std::int32_t none = -1;
  tags[interfaces].info.default_value.resize(sizeof none);
  std::memcpy(tags[interfaces].info.default_value.data(), &none, sizeof none);
  for (int d = 0; d <= value(mesh.cell_dim()); ++d)
    if (mesh.n_global(Dim{d}) > 0) add_dimension(mesh, Dim{d}, tags);
  return tags;
}

}  // namespace barrio::mesh
