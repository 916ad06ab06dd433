#include "barrio/mesh/to_linear.hpp"

#include <algorithm>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables/move_tags.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

constexpr std::int64_t gone = -1;

/// Return the number of corners of a block's cells if they have more nodes than corners, else 0.
int corners_to_keep(const CellBlock& block) {
  const int n_corners = topology(block.type).n_corners;
  return n_corners > 0 && block.nodes_per_cell > n_corners ? n_corners : 0;
}

std::vector<GlobalId> to_homes(mpi::Context& context, const Slabs& rows, std::vector<GlobalId> ids) {
  sort_unique(ids);
  std::vector<Rank> to;
  for (const GlobalId id : ids) to.push_back(rows.rank_of(id));
  return exchange::route(context, exchange::pack_by_rank<GlobalId>(to, ids)).items;
}

/// Mark the vertices of this rank's slab that are nodes but not corners of cells.
std::vector<char> find_extra(mpi::Context& context, const MeshTables& tables) {
  std::vector<GlobalId> corners;
  std::vector<GlobalId> others;
  for (const CellBlock& block : tables.blocks) {
    const std::size_t n = corners_to_keep(block);
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const auto nodes = block.cell(i);
      const auto kept = n > 0 ? nodes.first(n) : nodes;
      corners.insert(corners.end(), kept.begin(), kept.end());
      if (n > 0) others.insert(others.end(), nodes.begin() + n, nodes.end());
    }
  }
  const std::size_t first = tables.vertices.first(context.rank());
  std::vector<char> is_extra(tables.vertices.size(context.rank()), 0);
  for (const GlobalId id : to_homes(context, tables.vertices, std::move(others))) is_extra[index(id) - first] = 1;
  for (const GlobalId id : to_homes(context, tables.vertices, std::move(corners))) is_extra[index(id) - first] = 0;
  return is_extra;
}

/// Replace old rows by new ones, fetched from the homes of the old rows.
void translate(mpi::Context& context, const Slabs& before, std::span<const std::int64_t> new_rows,
               std::vector<CellBlock>& blocks) {
  std::vector<GlobalId> wanted;
  for (const CellBlock& block : blocks) wanted.insert(wanted.end(), block.nodes.begin(), block.nodes.end());
  sort_unique(wanted);
  std::vector<Rank> to;
  for (const GlobalId id : wanted) to.push_back(before.rank_of(id));
  const std::size_t first = before.first(context.rank());
  const std::vector<GlobalId> answers =
      exchange::ask(context, to, wanted, [&](GlobalId id) { return GlobalId{new_rows[index(id) - first]}; });
  for (CellBlock& block : blocks)
    for (GlobalId& id : block.nodes) id = answers[std::ranges::lower_bound(wanted, id) - wanted.begin()];
}

std::vector<double> move_coordinates(mpi::Context& context, const Slabs& after, std::span<const std::int64_t> new_rows,
                                     std::span<const double> x) {
  struct Position {
    double x, y, z;
  };
  std::vector<Rank> to;
  std::vector<Position> positions;
  for (std::size_t i = 0; i < new_rows.size(); ++i) {
    if (new_rows[i] == gone) continue;
    to.push_back(after.rank_of(new_rows[i]));
    positions.push_back({x[3 * i], x[3 * i + 1], x[3 * i + 2]});
  }
  std::vector<double> moved;
  // Senders ascend with rows, so the positions arrive in order.
  for (const Position& p : exchange::route(context, exchange::pack_by_rank<Position>(to, positions)).items)
    moved.insert(moved.end(), {p.x, p.y, p.z});
  return moved;
}

}  // namespace

MeshTables to_linear(mpi::Context& context, MeshTables tables, LinearReport& report) {
  report = {};
  for (const CellBlock& block : tables.blocks)
    if (corners_to_keep(block) > 0) report.n_cells += block.rows.n_rows;
  if (report.n_cells == 0) return tables;

  const std::vector<char> is_extra = find_extra(context, tables);
  MeshTables before;  // slabs and types only, to locate rows
  before.vertices = tables.vertices;
  for (const CellBlock& block : tables.blocks) before.blocks.push_back({block.type, block.rows, 0, {}, {}});
  std::int64_t n_left = std::ranges::count(is_extra, 0);
  std::int64_t row = mpi::exclusive_sum(context, n_left);
  n_left = mpi::sum(context, n_left);
  report.n_vertices = tables.vertices.n_rows - n_left;
  std::vector<std::int64_t> new_rows;
  for (const char extra : is_extra) new_rows.push_back(extra != 0 ? gone : row++);

  std::vector<Membership> members = memberships_at_home(context, tables);
  const std::int64_t first = before.vertices.first(context.rank());
  for (Membership& member : members)
    if (member.dim == Dim::vertex) member.row = new_rows[member.row - first];
  std::erase_if(members, [](const Membership& m) { return m.dim == Dim::vertex && m.row == gone; });
  tables.members = as_runs(members);

  tables.vertices = {n_left, context.size()};
  tables.coordinates = move_coordinates(context, tables.vertices, new_rows, tables.coordinates);
  for (CellBlock& block : tables.blocks) {
    const int n = corners_to_keep(block);
    if (n == 0) continue;
    std::vector<GlobalId> corners;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i) {
      const auto nodes = block.cell(i).first(n);
      corners.insert(corners.end(), nodes.begin(), nodes.end());
    }
    block.nodes = std::move(corners);
    block.nodes_per_cell = n;
  }
  translate(context, before.vertices, new_rows, tables.blocks);
  detail::move_tags(context, {before, tables, {{-1, std::move(new_rows)}}}, tables.tags);
  return tables;
}

}  // namespace barrio::mesh
