#include "tests/io/tagged_box.hpp"

#include <cstring>
#include <span>

#include "barrio/mesh/box.hpp"

namespace barrio::test {
namespace {

template <class T>
void add_value(mesh::TagItems& items, std::initializer_list<T> value, bool varies = false) {
  items.add(std::as_bytes(std::span(value.begin(), value.size())), varies);
}

}  // namespace

mesh::MeshTables tagged_box(mpi::Context& context) {
  using mesh::Dim;
  using mesh::TagType;
  mesh::MeshTables tables = mesh::make_box(context, {.n = {3, 4, 3}, .volumes = {2, 1, 1}});
  const Rank me = context.rank();
  const auto rows_of = [&](const Slabs& slabs, auto&& visit) {
    for (std::int64_t row = slabs.first(me); row < slabs.first(me + 1); ++row)
      visit(row, static_cast<std::int32_t>(row - slabs.first(me)));
  };
  const auto tag = [&](mesh::TagInfo info) -> mesh::TagTable& {
    tables.tags.push_back({.info = std::move(info)});
    return tables.tags.back();
  };
  {
    mesh::TagTable& t = tag({.name = "a/b \\ \x01\xff", .type = TagType::float64, .n_components = 3});
    t.columns.push_back({.block = -1});
    rows_of(tables.vertices, [&](std::int64_t row, std::int32_t) {
      const auto x = static_cast<double>(row);
      add_value<double>(t.columns[0].items, {x, -x, 0.5});
    });
    t.columns.push_back({.block = 0});
    rows_of(tables.blocks[0].rows, [&](std::int64_t row, std::int32_t) {
      add_value<double>(t.columns[1].items, {1.0, static_cast<double>(row), 3.0});
    });
  }
  {
    mesh::TagTable& t = tag({.name = "few", .type = TagType::int32, .storage = mesh::TagStorage::sparse});
    t.info.default_value.assign(4, std::byte{7});
    t.info.mesh_value.assign(4, std::byte{9});
    t.columns.push_back({.block = 0, .is_dense = false});
    rows_of(tables.blocks[0].rows, [&](std::int64_t row, std::int32_t place) {
      if (row % 5 != 2) return;
      t.columns[0].rows.push_back(place);
      add_value<std::int32_t>(t.columns[0].items, {static_cast<std::int32_t>(row)});
    });
    t.on_sets.sets = {1, 4};
    add_value<std::int32_t>(t.on_sets.items, {11});
    add_value<std::int32_t>(t.on_sets.items, {44});
  }
  {
    mesh::TagTable& t =
        tag({.name = "lists", .type = TagType::int32, .length_varies = true, .storage = mesh::TagStorage::sparse});
    t.columns.push_back({.block = -1, .is_dense = false, .items = {{0}, {}}});
    rows_of(tables.vertices, [&](std::int64_t row, std::int32_t place) {
      if (row % 4 == 1) return;
      t.columns[0].rows.push_back(place);
      const std::vector<std::int32_t> value(row % 3, static_cast<std::int32_t>(row));
      t.columns[0].items.add(std::as_bytes(std::span(value)), true);
    });
  }
  {
    mesh::TagTable& t =
        tag({.name = "partner", .type = TagType::entity, .n_components = 2, .storage = mesh::TagStorage::sparse});
    t.columns.push_back({.block = 1, .is_dense = false});
    rows_of(tables.blocks[1].rows, [&](std::int64_t row, std::int32_t place) {
      if (row % 2 == 0) return;
      t.columns[0].rows.push_back(place);
      add_value<mesh::EntityCode>(t.columns[0].items,
                                  {code_of(Dim::volume, GlobalId{row % 36}),
                                   row % 3 == 0 ? mesh::EntityCode::none : code_of(Dim::vertex, GlobalId{row % 80})});
    });
    t.on_sets.sets = {3};
    add_value<mesh::EntityCode>(t.on_sets.items, {mesh::code_of_set(2), code_of(Dim::edge, GlobalId{1})});
  }
  {
    mesh::TagTable& t =
        tag({.name = "flags", .type = TagType::bits, .n_components = 3, .storage = mesh::TagStorage::bit});
    t.columns.push_back({.block = 0});
    rows_of(tables.blocks[0].rows, [&](std::int64_t row, std::int32_t) {
      add_value<std::uint8_t>(t.columns[0].items, {static_cast<std::uint8_t>(row % 8)});
    });
  }
  {
    mesh::TagTable& t =
        tag({.name = "label", .type = TagType::bytes, .n_components = 5, .storage = mesh::TagStorage::sparse});
    t.on_sets.sets = {0};
    add_value<char>(t.on_sets.items, {'h', 'e', 'l', 'l', 'o'});
  }
  tag({.name = "nowhere", .type = TagType::float64, .storage = mesh::TagStorage::mesh});

  const auto place = [&](mesh::SetInfo info) {
    tables.sets.push_back(std::move(info));
    return static_cast<std::int32_t>(tables.sets.size() - 1);
  };
  // A list: faces 5, 3, 4, a set, face 3 again; a set of sets; a family.
  const std::int32_t list = place({.name = "list", .is_ordered = true, .tracks_members = true, .contained = {{0, 3}}});
  const std::int32_t outer =
      place({.kind = mesh::SetKind::dirichlet, .id = 5, .name = "outer", .contained = {{1}, {list}}});
  tables.sets[outer].more_roles.push_back({mesh::SetKind::neumann, 6, Dim::vertex});
  tables.sets[outer].children = {list, 0};
  tables.sets[list].parents = {outer};
  if (context.rank() == context.size() - 1) {
    tables.members.push_back({list, Dim::face, 5, 1, 0});
    tables.members.push_back({list, Dim::face, 3, 2, 1});
    tables.members.push_back({list, Dim::face, 3, 1, 4});
    tables.members.push_back({outer, Dim::vertex, 10, 20});
  }
  return tables;
}

}  // namespace barrio::test
