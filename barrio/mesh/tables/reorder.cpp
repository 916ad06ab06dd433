#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "barrio/base/distinct.hpp"
#include "barrio/base/memory.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/memberships.hpp"
#include "barrio/mesh/tables.hpp"
#include "barrio/mesh/tables/move_tags.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::mesh {
namespace {

/// A cell on the way to its new row, as a view of its record: part, old row, numbers of nodes and sets, nodes, and for
/// each set its number and the position of the cell in it.
struct MovedCell {
  std::int32_t part;
  std::int64_t old_row;
  std::span<const std::int64_t> nodes;
  std::span<const std::int64_t> sets;   // pairs
  std::span<const std::int64_t> words;  // all of the record

  static constexpr std::size_t n_head = 3;
  /// Read the record that starts at a word.
  MovedCell(std::span<const std::int64_t> all, std::size_t at)
      : part(static_cast<std::int32_t>(all[at])), old_row(all[at + 1]) {
    const auto n_nodes = static_cast<std::size_t>(all[at + 2] >> 32);
    const auto n_sets = static_cast<std::size_t>(all[at + 2] & 0xffffffff);
    nodes = all.subspan(at + n_head, n_nodes);
    sets = all.subspan(at + n_head + n_nodes, 2 * n_sets);
    words = all.subspan(at, n_head + n_nodes + 2 * n_sets);
  }
};

void append(std::vector<std::int64_t>& words, std::span<const std::int64_t> more) {
  words.insert(words.end(), more.begin(), more.end());
}

/// Append words for a rank that is not below those before.
void add(exchange::Parcels<std::int64_t>& parcels, Rank to, std::span<const std::int64_t> words) {
  if (parcels.peers.empty() || parcels.peers.back() != to) {
    parcels.peers.push_back(to);
    parcels.offsets.push_back(parcels.items.size());
  }
  append(parcels.items, words);
  parcels.offsets.back() = parcels.items.size();
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
    Distinct<GlobalId> distinct;
    for (const GlobalId id : ids) distinct.add(id);
    const std::vector<GlobalId> wanted = distinct.take();
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
  const std::int64_t n_before = std::ssize(new_parts);  // of the blocks before
  const Slabs slices{tables.n_parts, context.size()};
  const std::int64_t first = block.rows.first(context.rank());
  const std::size_t n = parts.size();
  exchange::Parcels<std::int64_t> parcels;
  {
    std::vector<Rank> to(n);
    for (std::size_t i = 0; i < n; ++i) to[i] = slices.rank_of(parts[i]);
    const auto nodes_per_cell = static_cast<std::size_t>(block.nodes_per_cell);
    parcels.items.reserve(n * MovedCell::n_head + (nodes_per_cell > 0 ? n * nodes_per_cell : block.nodes.size()));
    std::vector<std::int64_t> record;
    for (const std::size_t i : exchange::order_by_rank(to)) {
      const std::span<const GlobalId> nodes = block.cell(i);
      const std::int64_t old_row = first + static_cast<std::int64_t>(i);
      record.assign({parts[i], old_row, std::ssize(nodes) << 32});
      for (const GlobalId node : nodes) record.push_back(value(node));
      for (const Membership& m : of_row(members, tables.top_dim(), first_row + old_row)) {
        record.insert(record.end(), {m.set, m.position});
        ++record[2];
      }
      add(parcels, to[i], record);
    }
  }
  free_memory(block.nodes);
  free_memory(block.offsets);
  std::vector<std::int64_t> words = exchange::route(context, std::move(parcels)).items;
  parcels = {};
  {
    // records arrive by ascending old row: the places by part are found by counting
    const std::int64_t first_part = slices.first(context.rank());
    std::vector<std::size_t> next(slices.size(context.rank()) + 1, 0);
    std::size_t n_cells = 0;
    for (std::size_t at = 0; at < words.size(); at += MovedCell(words, at).words.size(), ++n_cells)
      ++next[words[at] - first_part + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    std::vector<std::size_t> ordered(n_cells);
    for (std::size_t at = 0; at < words.size(); at += MovedCell(words, at).words.size())
      ordered[next[words[at] - first_part]++] = at;
    std::int64_t row = mpi::exclusive_sum(context, std::ssize(ordered));
    parcels.items.reserve(words.size());
    for (const std::size_t at : ordered) add(parcels, block.rows.rank_of(row++), MovedCell(words, at).words);
  }
  free_memory(words);
  // senders ascend with rows, so the cells arrive in the new order
  words = exchange::route(context, std::move(parcels)).items;

  if (block.nodes_per_cell == 0) block.offsets.assign(1, 0);
  block.nodes.reserve(n * static_cast<std::size_t>(block.nodes_per_cell));
  struct Moved {
    std::int64_t from;
    std::int64_t to;
  };
  std::vector<Rank> to;
  std::vector<Moved> moved;  // for tags
  for (std::size_t at = 0; at < words.size();) {
    const MovedCell cell(words, at);
    const std::int64_t new_row = first + std::ssize(new_parts) - n_before;
    for (const std::int64_t node : cell.nodes) block.nodes.push_back(GlobalId{node});
    if (block.nodes_per_cell == 0) block.offsets.push_back(std::ssize(block.nodes));
    for (std::size_t k = 0; k < cell.sets.size(); k += 2)
      new_members.push_back(
          {tables.top_dim(), static_cast<std::int32_t>(cell.sets[k]), first_row + new_row, cell.sets[k + 1]});
    if (!tables.tags.empty()) {
      to.push_back(block.rows.rank_of(cell.old_row));
      moved.push_back({cell.old_row, new_row});
    }
    new_parts.push_back(cell.part);
    at += cell.words.size();
  }

  // for tags: send the new rows to the old homes of the cells
  std::vector<std::int64_t> new_rows(tables.tags.empty() ? 0 : n);
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
  const auto less = [](const VertexUse& a, const VertexUse& b) {
    return std::tuple(a.vertex, a.part) < std::tuple(b.vertex, b.part);
  };
  const auto same = [](const VertexUse& a, const VertexUse& b) { return a.vertex == b.vertex; };
  Distinct<VertexUse, decltype(less), decltype(same)> distinct(less, same);
  std::size_t at = 0;
  for (const CellBlock& block : tables.blocks) {
    if (topology(block.type).dim != tables.top_dim()) continue;
    for (std::size_t i = 0; i < block.rows.size(context.rank()); ++i, ++at)
      for (const GlobalId node : block.cell(i)) distinct.add({node, tables.parts[at]});
  }
  std::vector<VertexUse> uses = distinct.take();
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
