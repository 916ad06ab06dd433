#include <algorithm>
#include <numeric>
#include <tuple>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/mesh/tables/move_tags.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

using exchange::WordReader;

/// A cell on the way to its new row.
struct MovedCell {
  std::int32_t part;
  std::int64_t old_row;  // in the block
  std::vector<GlobalId> nodes;
  std::vector<std::pair<std::int32_t, std::int64_t>> sets;  // set, position in it
};

void encode(const MovedCell& cell, std::vector<std::int64_t>& record) {
  record.push_back(cell.part);
  record.push_back(cell.old_row);
  record.push_back(cell.nodes.size());
  for (const GlobalId node : cell.nodes) record.push_back(value(node));
  record.push_back(cell.sets.size());
  for (const auto& [set, position] : cell.sets) {
    record.push_back(set);
    record.push_back(position);
  }
}

MovedCell decode(WordReader& in) {
  MovedCell cell;
  cell.part = static_cast<std::int32_t>(in.get());
  cell.old_row = in.get();
  cell.nodes.resize(in.get());
  for (GlobalId& node : cell.nodes) node = in.get_id();
  cell.sets.resize(in.get());
  for (auto& [set, position] : cell.sets) {
    set = static_cast<std::int32_t>(in.get());
    position = in.get();
  }
  return cell;
}

std::vector<MovedCell> decode_all(std::span<const std::int64_t> words) {
  std::vector<MovedCell> cells;
  for (WordReader in(words); !in.done();) cells.push_back(decode(in));
  return cells;
}

/// New numbers of vertices, ordered by the lowest part that uses them, then by old number; unused vertices come last.
class VertexNumbers {
 public:
  /// Compute the numbers. Collective. @param part_of  lowest part that uses each vertex row of this rank's slab
  VertexNumbers(mpi::Context& context, const Slabs& rows, int n_parts, std::span<const std::int32_t> part_of)
      : context_(context), rows_(rows) {
    struct Claim {
      std::int32_t part;
      std::int32_t place;
    };
    // Ranks take contiguous slices of parts; the unused vertices count as one more part.
    const Slabs slices{n_parts + 1, context.size()};
    std::vector<Rank> to;
    std::vector<Claim> claims;
    for (std::int32_t i = 0; i < std::ssize(part_of); ++i) {
      to.push_back(slices.rank_of(part_of[i]));
      claims.push_back({part_of[i], i});
    }
    new_row_ = exchange::ask_together(context, to, claims, [&](const exchange::Parcels<Claim>& asked) {
      // Claims arrive by ascending sender and place, which is the old order; a stable sort by part completes it.
      std::vector<std::size_t> order(asked.items.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return asked.items[a].part < asked.items[b].part; });
      const auto first = mpi::exclusive_sum(context, std::ssize(order));
      std::vector<std::int64_t> numbers(order.size());
      for (std::size_t i = 0; i < order.size(); ++i) numbers[order[i]] = first + i;
      return numbers;
    });
  }

  [[nodiscard]] std::span<const std::int64_t> of_slab() const noexcept { return new_row_; }

  /// Replace old numbers by new ones, in place. Collective.
  void translate(std::span<GlobalId> ids) const {
    std::vector<GlobalId> wanted(ids.begin(), ids.end());
    sort_unique(wanted);
    std::vector<Rank> to;
    for (const GlobalId id : wanted) to.push_back(rows_.rank_of(id));
    const std::size_t first = rows_.first(context_.rank());
    const std::vector<GlobalId> numbers =
        exchange::ask(context_, to, wanted, [&](GlobalId id) { return GlobalId{new_row_[index(id) - first]}; });
    for (GlobalId& id : ids) {
      const auto at = std::lower_bound(wanted.begin(), wanted.end(), id) - wanted.begin();
      id = numbers[at];
    }
  }

 private:
  mpi::Context& context_;
  Slabs rows_;
  std::vector<std::int64_t> new_row_;
};

/// Reorder one block of top cells; the parts of its rows and the memberships move with them.
/// @return new row of each old row of this rank's slab, if there are tags
std::vector<std::int64_t> reorder_block(mpi::Context& context, const MeshTables& tables, CellBlock& block,
                                        std::int64_t first_row, std::span<const std::int32_t> parts,
                                        std::span<const Membership> members, std::vector<std::int32_t>& new_parts,
                                        std::vector<Membership>& new_members) {
  const Slabs slices{tables.n_parts, context.size()};
  exchange::Outbox outbox;
  const std::int64_t first = block.rows.first(context.rank());
  for (std::int64_t i = 0; i < std::ssize(parts); ++i) {
    const std::span<const GlobalId> nodes = block.cell(i);
    MovedCell cell{parts[i], first + i, {nodes.begin(), nodes.end()}, {}};
    for (const Membership& m : of_row(members, tables.top_dim(), first_row + cell.old_row))
      cell.sets.emplace_back(m.set, m.position);
    encode(cell, outbox.begin(slices.rank_of(cell.part)));
  }
  std::vector<MovedCell> cells = decode_all(exchange::route(context, outbox.parcels()).items);
  std::sort(cells.begin(), cells.end(), [](const MovedCell& a, const MovedCell& b) {
    return std::tuple(a.part, a.old_row) < std::tuple(b.part, b.old_row);
  });
  std::int64_t row = mpi::exclusive_sum(context, std::ssize(cells));
  exchange::Outbox second;
  for (const MovedCell& cell : cells) encode(cell, second.begin(block.rows.rank_of(row++)));
  // Senders ascend with rows, so the cells arrive in the new order.
  cells = decode_all(exchange::route(context, second.parcels()).items);

  block.nodes.clear();
  if (block.nodes_per_cell == 0) block.offsets.assign(1, 0);
  for (std::int64_t i = 0; i < std::ssize(cells); ++i) {
    const MovedCell& cell = cells[i];
    block.nodes.insert(block.nodes.end(), cell.nodes.begin(), cell.nodes.end());
    if (block.nodes_per_cell == 0) block.offsets.push_back(block.nodes.size());
    new_parts.push_back(cell.part);
    for (const auto& [set, position] : cell.sets)
      new_members.push_back({tables.top_dim(), set, first_row + first + i, position});
  }

  // For tags: send the new rows to the old homes of the cells.
  struct Moved {
    std::int64_t from;
    std::int64_t to;
  };
  std::vector<Rank> to;
  std::vector<Moved> moved;
  for (std::int64_t i = 0; i < std::ssize(cells) && !tables.tags.empty(); ++i) {
    to.push_back(block.rows.rank_of(cells[i].old_row));
    moved.push_back({cells[i].old_row, first + i});
  }
  std::vector<std::int64_t> new_rows(tables.tags.empty() ? 0 : cells.size());
  for (const Moved& one : exchange::route(context, exchange::pack_by_rank<Moved>(to, moved)).items)
    new_rows[one.from - first] = one.to;
  return new_rows;
}

/// Find the lowest part that uses each vertex of this rank's slab; n_parts for unused vertices.
std::vector<std::int32_t> lowest_parts(mpi::Context& context, const MeshTables& tables) {
  struct VertexUse {
    GlobalId vertex;
    std::int32_t part;
  };
  std::vector<VertexUse> uses;
  std::size_t at = 0;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i, ++at)
      for (const GlobalId node : block.cell(i)) uses.push_back({node, tables.parts[at]});
  }
  const auto order = [](const VertexUse& use) { return std::tuple(use.vertex, use.part); };
  std::sort(uses.begin(), uses.end(), [&](const VertexUse& a, const VertexUse& b) { return order(a) < order(b); });
  uses.erase(std::unique(uses.begin(), uses.end(),
                         [](const VertexUse& a, const VertexUse& b) { return a.vertex == b.vertex; }),
             uses.end());
  std::vector<Rank> to;
  for (const VertexUse& use : uses) to.push_back(tables.vertices.rank_of(use.vertex));
  uses = exchange::route(context, exchange::pack_by_rank<VertexUse>(to, uses)).items;
  std::vector<std::int32_t> lowest(tables.vertices.size(context.rank()), tables.n_parts);
  const std::size_t first = tables.vertices.first(context.rank());
  for (const VertexUse& use : uses) {
    std::int32_t& part = lowest[index(use.vertex) - first];
    part = std::min(part, use.part);
  }
  return lowest;
}

}  // namespace

MeshTables reorder_by_part(mpi::Context& context, MeshTables tables) {
  const std::vector<Membership> members = memberships_at_home(context, tables);
  const VertexNumbers numbers(context, tables.vertices, tables.n_parts, lowest_parts(context, tables));

  std::vector<std::int32_t> new_parts;
  std::vector<Membership> new_members;
  detail::Moves moves{tables, tables, {{-1, {numbers.of_slab().begin(), numbers.of_slab().end()}}}};
  std::size_t at = 0;
  for (std::int32_t b = 0; b < std::ssize(tables.blocks); ++b) {
    CellBlock& block = tables.blocks[b];
    const std::int64_t first_row = tables.first_row(b);
    if (topology(block.type).dim == tables.top_dim()) {
      const std::size_t n = block.rows.size(context.rank());
      moves.new_rows[b] = reorder_block(context, tables, block, first_row, std::span(tables.parts).subspan(at, n),
                                        members, new_parts, new_members);
      at += n;
    }
    numbers.translate(block.nodes);
  }
  for (const Membership& m : members) {
    if (m.dim == tables.top_dim()) continue;
    Membership moved = m;
    if (m.dim == Dim::vertex) moved.row = numbers.of_slab()[m.row - tables.vertices.first(context.rank())];
    new_members.push_back(moved);
  }
  tables.parts = std::move(new_parts);
  tables.members = as_runs(new_members);
  if (!tables.tags.empty()) detail::move_tags(context, moves, tables.tags);

  struct Moved {
    std::int64_t row;
    double x, y, z;
  };
  std::vector<Rank> to;
  std::vector<Moved> vertices;
  for (std::size_t i = 0; i < numbers.of_slab().size(); ++i) {
    const double* x = &tables.coordinates[3 * i];
    vertices.push_back({numbers.of_slab()[i], x[0], x[1], x[2]});
    to.push_back(tables.vertices.rank_of(vertices.back().row));
  }
  vertices = exchange::route(context, exchange::pack_by_rank<Moved>(to, vertices)).items;
  const std::int64_t first = tables.vertices.first(context.rank());
  for (const Moved& vertex : vertices) {
    double* x = &tables.coordinates[3 * (vertex.row - first)];
    x[0] = vertex.x;
    x[1] = vertex.y;
    x[2] = vertex.z;
  }
  return tables;
}

}  // namespace barrio::mesh
