#include "barrio/mesh/join.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/joining/join_rows.hpp"
#include "barrio/mesh/joining/lowest_ids.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables/move_tags.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using detail::IdLink;
using detail::NewVertices;

constexpr RegionName merge_vertices_region{"tables.merge_vertices"};

void check(mpi::Context& context, const MeshTables& tables, std::span<const VertexPair> pairs,
           const std::string& subject) {
  agree_after(context, [&] {
    for (const VertexPair& pair : pairs) {
      for (const std::int64_t row : {value(pair.a), value(pair.b)}) {
        if (row >= 0 && row < tables.vertices.n_rows) continue;
        throw Error(ErrorCode::bad_input, {.subject = subject,
                                           .cause = fmt::format("merges vertex {}, but the vertices are 0 to {}", row,
                                                                tables.vertices.n_rows - 1),
                                           .remedy = "give pairs of vertices that exist"});
      }
    }
  });
}

/// Bring pairs to the homes of both rows.
std::vector<IdLink> links_at_home(mpi::Context& context, const Slabs& rows, std::span<const VertexPair> pairs) {
  std::vector<IdLink> links;
  for (const VertexPair& pair : pairs) {
    if (pair.a == pair.b) continue;
    links.push_back({value(pair.a), value(pair.b)});
    links.push_back({value(pair.b), value(pair.a)});
  }
  sort_unique(links);
  std::vector<Rank> to;
  for (const IdLink& link : links) to.push_back(rows.rank_of(link.id));
  links = exchange::route(context, exchange::pack_by_rank<IdLink>(to, links), exchange::Route::automatic).items;
  sort_unique(links);
  return links;
}

/// Return the row that each row of this rank's slab becomes.
std::vector<std::int64_t> lowest_rows(mpi::Context& context, const Slabs& rows, std::span<const IdLink> links) {
  std::vector<std::int64_t> becomes(rows.size(context.rank()));
  const std::int64_t first = rows.first(context.rank());
  for (std::int64_t i = 0; i < std::ssize(becomes); ++i) becomes[i] = first + i;
  for (const detail::LowestId& one :
       detail::lowest_ids(context, links, [&](std::int64_t row) { return rows.rank_of(row); }))
    becomes[one.id - first] = one.lowest;
  return becomes;
}

void translate_cells(const NewVertices& vertices, std::vector<CellBlock>& blocks) {
  const auto new_rows = vertices.translation([&](NewVertices::Wanted& wanted) {
    for (const CellBlock& block : blocks) wanted.add(0, block.nodes);
  });
  const auto new_row = new_rows.of(0);
  for (CellBlock& block : blocks)
    for (GlobalId& node : block.nodes) node = GlobalId{new_row(value(node))};
}

/// Give the members new rows of vertices. Collective. A vertex is in a set once, unless the set is ordered.
/// @param[in] rows_before  of the vertices; the tables have the new ones
void translate_members(mpi::Context& context, const Slabs& rows_before, const NewVertices& vertices,
                       MeshTables& tables) {
  std::vector<SetRows> members;
  MeshTables of_vertices;
  of_vertices.vertices = rows_before;
  for (const SetRows& rows : tables.members) (rows.dim == Dim::vertex ? of_vertices.members : members).push_back(rows);
  std::vector<Membership> of_rows = memberships_at_home(context, of_vertices);
  for (Membership& member : of_rows) member.row = vertices.row(0, member.row - rows_before.first(context.rank()));
  of_vertices.vertices = tables.vertices;
  of_vertices.members = as_runs(of_rows);
  of_rows = memberships_at_home(context, of_vertices);
  const std::vector<SetRows> runs = as_runs(of_rows);
  members.insert(members.end(), runs.begin(), runs.end());
  tables.members = std::move(members);
}

/// Give the values of tags, and values that are vertices, their new rows. Collective.
void translate_tags(mpi::Context& context, const Slabs& rows_before, std::vector<std::int64_t> new_rows,
                    MeshTables& tables) {
  MeshTables before;
  before.vertices = rows_before;
  for (const CellBlock& block : tables.blocks)
    before.blocks.push_back({block.type, block.rows, block.nodes_per_cell, {}, {}});
  const detail::Moves moves{before, tables, {{-1, std::move(new_rows)}}};
  detail::move_tags(context, moves, tables.tags);
}

}  // namespace

MergedVertices merge_vertices(mpi::Context& context, MeshTables& tables, const std::vector<VertexPair>& pairs,
                              const std::string& subject) {
  const Region region(context.trace(), merge_vertices_region);
  check(context, tables, pairs, subject);
  const std::vector<IdLink> links = links_at_home(context, tables.vertices, pairs);
  std::vector<MeshTables> before(1);  // the vertices alone
  before[0].vertices = tables.vertices;
  before[0].coordinates = std::move(tables.coordinates);
  tables.coordinates.clear();
  const NewVertices vertices(context, before, {lowest_rows(context, tables.vertices, links)});
  detail::move_vertices(context, before, vertices, tables);
  translate_cells(vertices, tables.blocks);
  translate_members(context, before[0].vertices, vertices, tables);
  MergedVertices result{.n_merged = before[0].vertices.n_rows - tables.vertices.n_rows};
  std::vector<std::int64_t> new_rows(before[0].vertices.size(context.rank()));
  for (std::size_t i = 0; i < new_rows.size(); ++i) new_rows[i] = vertices.row(0, i);
  for (const std::int64_t row : new_rows) result.new_rows.push_back(GlobalId{row});
  translate_tags(context, before[0].vertices, std::move(new_rows), tables);
  return result;
}

}  // namespace barrio::mesh
