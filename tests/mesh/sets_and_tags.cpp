#include "tests/mesh/sets_and_tags.hpp"

#include "tests/support/mpi_test.hpp"

namespace barrio::test {
using namespace mesh;

void add_sets_in_sets(MeshTables& tables) {
  const auto inner = static_cast<std::int32_t>(tables.sets.size());
  tables.sets.push_back({.kind = SetKind::dirichlet, .id = 7, .name = "inner"});
  tables.sets.push_back({.kind = SetKind::other, .name = "outer", .contained = {{inner}}});
  if (world().rank() != 0) return;
  tables.members.push_back({inner, Dim::vertex, 3, 9});
  tables.members.push_back({inner, tables.top_dim(), 1, 5});
  tables.members.push_back({inner + 1, tables.top_dim(), 0, 1});
}

TagTable varying_tag(const MeshTables& tables) {
  TagTable tag{.info = {.name = "varying", .type = TagType::int32, .length_varies = true}};
  for (std::int32_t b = -1; b < static_cast<std::int32_t>(tables.blocks.size()); ++b) {
    const Slabs& slabs = b < 0 ? tables.vertices : tables.blocks[b].rows;
    TagColumn& column = tag.columns.emplace_back(TagColumn{.block = b, .is_dense = false, .items = {{0}, {}}});
    for (std::size_t i = 0; i < slabs.size(world().rank()); ++i) {
      const std::int64_t row = slabs.first(world().rank()) + static_cast<std::int64_t>(i);
      if (row % 3 == 1) continue;
      column.rows.push_back(static_cast<std::int32_t>(i));
      const std::vector<std::int32_t> value(row % 4, static_cast<std::int32_t>(row));
      column.items.add(std::as_bytes(std::span(value)), true);
    }
  }
  return tag;
}

void forget_order(MeshTables& tables) {
  for (SetInfo& set : tables.sets) {
    set.is_ordered = false;
    for (SetInSet& inner : set.contained) inner.position = -1;
  }
  for (SetRows& rows : tables.members) rows.position = -1;
}

}  // namespace barrio::test
