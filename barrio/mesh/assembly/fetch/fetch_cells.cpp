#include <algorithm>
#include <limits>
#include <utility>

#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/assembly/builder.hpp"
#include "barrio/mesh/assembly/offsets.hpp"
#include "barrio/mesh/tables/append_each.hpp"
#include "barrio/mesh/tables/message.hpp"

// Cells leave the slabs in which they were read for the rank that holds their part: one array per column and block.
// A cell whose slab and part are on the same rank is not packed. Rows of a block keep their order, senders ascend with
// rows, and blocks with ids. Cells therefore arrive by ascending global id, without sorting.

namespace barrio::mesh {
namespace {

using detail::MessageReader;
using detail::MessageWriter;
using detail::SetRun;

constexpr RegionName cells_region{"mesh.cells"};

/// The cells of one block that go to one rank.
template <class Node>
struct Columns {
  std::vector<std::int32_t> rows;  // in the sender's slab of the block
  std::vector<std::int32_t> parts;
  std::vector<std::int32_t> sizes;  // empty if all cells of the block have the same number of nodes
  std::vector<Node> nodes;
  std::vector<SetRun> sets;  // of cells by their place in `rows`

  void put_into(MessageWriter& out) const {
    out.put(rows);
    out.put(parts);
    out.put(sizes);
    out.put(nodes);
    out.put(sets);
  }
};

/// Columns read in place from a message.
template <class Node>
struct ColumnsView {
  std::span<const std::int32_t> rows;
  std::span<const std::int32_t> parts;
  std::span<const std::int32_t> sizes;
  std::span<const Node> nodes;
  std::span<const SetRun> sets;

  explicit ColumnsView(MessageReader& in)  // advances the reader to the next block
      : rows(in.get<std::int32_t>()),
        parts(in.get<std::int32_t>()),
        sizes(in.get<std::int32_t>()),
        nodes(in.get<Node>()),
        sets(in.get<SetRun>()) {}
};

/// Destinations of the rows of this rank's slabs.
struct Destinations {
  std::vector<Rank> ranks;           // distinct, ascending
  std::vector<std::int32_t> of_row;  // place in ranks, for each top cell of the slabs

  Destinations(std::span<const std::int32_t> parts, const Slabs& slices) {
    if (parts.empty()) return;
    const auto [low, high] = std::ranges::minmax(parts);
    std::vector<std::int32_t> present;   // ascending: their ranks ascend too
    std::vector<std::int32_t> place_of;  // by part - low; empty if the span of parts exceeds the number of rows
    if (const std::size_t last = high - low; last < parts.size()) {
      place_of.assign(last + 1, -1);
      for (const std::int32_t part : parts) place_of[part - low] = 0;
      for (std::int32_t part = low; part <= high; ++part)
        if (place_of[part - low] == 0) present.push_back(part);
    } else {
      present.assign(parts.begin(), parts.end());
      sort_unique(present);
    }
    std::vector<std::int32_t> place_of_present;
    std::int32_t place_of_rank = -1;
    for (const std::int32_t part : present) {
      const Rank rank = slices.rank_of(part);
      if (ranks.empty() || ranks.back() != rank) {
        ranks.push_back(rank);
        ++place_of_rank;
      }
      place_of_present.push_back(place_of_rank);
      if (!place_of.empty()) place_of[part - low] = place_of_present.back();
    }
    of_row.reserve(parts.size());
    const auto place = [&](std::int32_t part) {
      if (!place_of.empty()) return place_of[part - low];
      return place_of_present[std::ranges::lower_bound(present, part) - present.begin()];
    };
    detail::append_each(of_row, parts, place);
  }
};

/// Packs the cells that leave this rank, block after block; cells that stay are taken from the tables.
template <class Node>
class LeavingCells {
 public:
  LeavingCells(const MeshTables& tables, Rank me, const Destinations& to, std::int32_t self)
      : tables_(tables), me_(me), to_(to), self_(self), messages_(to.ranks.size()), columns_(to.ranks.size()) {}

  /// @param at  the block's first row of this rank's slab, among the rows of all blocks of cells
  void pack(const CellBlock& block, const std::vector<detail::HomeRun>& runs, std::size_t at) {
    const std::size_t n = block.rows.size(me_);
    const std::span<const std::int32_t> peers = std::span(to_.of_row).subspan(at, n);
    reserve(block, peers);
    std::vector<std::int32_t> place_of_row(runs.empty() ? 0 : n);  // among the rows for the same rank
    std::vector<std::int32_t> n_before(to_.ranks.size(), 0);
    for (std::int32_t i = 0; i < std::ssize(peers); ++i) {
      const std::int32_t peer = peers[i];
      if (!runs.empty()) place_of_row[i] = n_before[peer]++;
      if (peer == self_) continue;
      Columns<Node>& out = columns_[peer];
      out.rows.push_back(i);
      out.parts.push_back(tables_.parts[at + i]);
      const auto nodes = block.cell(i);
      if (block.nodes_per_cell == 0) out.sizes.push_back(static_cast<std::int32_t>(nodes.size()));
      for (const GlobalId node : nodes) out.nodes.push_back(static_cast<Node>(barrio::value(node)));
    }
    std::vector<SetRun>& kept = kept_sets_.emplace_back();
    for (const SetRun& run : runs) {
      const std::size_t low = run.first;
      for (std::size_t i = low; i < low + run.count; ++i) {
        auto& sets = peers[i] == self_ ? kept : columns_[peers[i]].sets;
        detail::append(sets, run.set, place_of_row[i]);
      }
    }
    for (std::size_t p = 0; p < columns_.size(); ++p)
      if (std::cmp_not_equal(p, self_)) columns_[p].put_into(messages_[p]);
  }

  /// Take the messages of the leaving cells, by rank; this object gives them up.
  [[nodiscard]] exchange::Parcels<std::byte> take_parcels() {
    columns_.clear();
    exchange::Parcels<std::byte> parcels;
    for (std::size_t p = 0; p < messages_.size(); ++p) {
      if (std::cmp_not_equal(p, self_)) parcels.add(to_.ranks[p], messages_[p].bytes());
      messages_[p] = {};
    }
    return parcels;
  }
  /// Return, for each block, the sets of the cells that stay, in order.
  [[nodiscard]] const std::vector<std::vector<SetRun>>& kept_sets() const& noexcept { return kept_sets_; }

 private:
  void reserve(const CellBlock& block, std::span<const std::int32_t> peers) {
    std::vector<std::size_t> n_rows(to_.ranks.size(), 0);
    for (const std::int32_t peer : peers) n_rows[peer] += 1;
    for (std::size_t p = 0; p < columns_.size(); ++p) {
      columns_[p] = {};
      if (std::cmp_equal(p, self_)) continue;
      columns_[p].rows.reserve(n_rows[p]);
      columns_[p].parts.reserve(n_rows[p]);
      columns_[p].nodes.reserve(n_rows[p] * block.nodes_per_cell);
    }
  }

  const MeshTables& tables_;
  Rank me_;
  const Destinations& to_;
  std::int32_t self_;
  std::vector<MessageWriter> messages_;
  std::vector<Columns<Node>> columns_;
  std::vector<std::vector<SetRun>> kept_sets_;
};

/// Takes cells into the mesh, in the order of their global ids.
template <class Node, class Kept>
struct CellTaker {
  EntityTable& table;
  std::vector<Kept>& nodes;
  std::vector<std::int32_t>& parts;
  std::vector<SetRun>& set_runs;

  /// Take cells that came from another rank.
  /// @param first  global id of the first row in its slab of the block
  void take(const CellBlock& block, const ColumnsView<Node>& in, GlobalId first) {
    take_sets(in.sets);
    for (std::size_t i = 0; i < in.rows.size(); ++i) {
      table.global_ids.push_back(first + in.rows[i]);
      shape(block, in.sizes.empty() ? block.nodes_per_cell : in.sizes[i]);
    }
    parts.insert(parts.end(), in.parts.begin(), in.parts.end());
    detail::append_each(nodes, in.nodes, [](Node node) { return Kept{node}; });
  }
  /// Take the rows of this rank's slab of a block that stay: those with `self` in `peers`. Usually they are
  /// consecutive.
  void take_kept(const CellBlock& block, GlobalId first, std::span<const std::int32_t> peers, std::int32_t self,
                 std::span<const std::int32_t> parts_of_rows) {
    for (std::size_t i = 0; i < peers.size();) {
      if (peers[i] != self) {
        ++i;
        continue;
      }
      const std::size_t from = i;
      std::size_t n_nodes = 0;
      for (; i < peers.size() && peers[i] == self; ++i) {
        const std::size_t of_cell = block.cell(i).size();
        table.global_ids.push_back(first + i);
        shape(block, of_cell);
        n_nodes += of_cell;
      }
      const auto of_run = parts_of_rows.subspan(from, i - from);
      parts.insert(parts.end(), of_run.begin(), of_run.end());
      detail::append_each(nodes, std::span<const GlobalId>(block.cell(from).data(), n_nodes),
                          [](GlobalId node) { return Kept{static_cast<Node>(barrio::value(node))}; });
    }
  }
  /// Take the sets of cells that are about to be taken, by their place among these.
  void take_sets(std::span<const SetRun> runs) {
    const auto n_before = static_cast<std::int32_t>(table.size());
    for (const SetRun& run : runs) set_runs.push_back({run.set, run.first + n_before, run.count});
  }

 private:
  void shape(const CellBlock& block, std::size_t n_nodes) {
    if (!table.has_one_type) table.types.push_back(block.type);
    if (table.nodes_per_entity == 0) detail::append_row(table.offsets, n_nodes);
  }
};

}  // namespace

void MeshBuilder::shape_table(EntityTable& table, Dim dim) const {
  // The shape follows from data that all ranks have: a rank without cells gets the same shape as the others.
  const CellBlock* first = nullptr;
  bool same_size = true;
  table.has_one_type = true;
  for (const CellBlock& block : tables_.blocks) {
    if (topology(block.type).dim != dim || block.rows.n_rows == 0) continue;
    if (first == nullptr) first = &block;
    table.has_one_type = table.has_one_type && block.type == first->type;
    same_size = same_size && block.nodes_per_cell > 0 && block.nodes_per_cell == first->nodes_per_cell;
  }
  if (first != nullptr && same_size) table.nodes_per_entity = first->nodes_per_cell;
  if (first != nullptr && table.has_one_type) table.types.push_back(first->type);
  if (!same_size) table.offsets.push_back(0);
}

void MeshBuilder::fetch_cells() {
  const Region region(context_.trace(), cells_region);
  const Dim top = tables_.top_dim();
  EntityTable& table = known_.cells;
  shape_table(table, top);
  if (tables_.vertices.n_rows <= std::numeric_limits<std::int32_t>::max()) {
    fetch_cells_with<std::int32_t>(table, table.nodes);
    free_cells();
    known_.index_vertices();
  } else {
    std::vector<GlobalId> nodes;
    fetch_cells_with<std::int64_t>(table, nodes);
    free_cells();
    known_.index_vertices(nodes);
  }
}

template <class Node, class Kept>
void MeshBuilder::fetch_cells_with(EntityTable& table, std::vector<Kept>& all_nodes) {
  const Dim top = tables_.top_dim();
  const Rank me = context_.rank();
  const Destinations to(tables_.parts, Slabs{tables_.n_parts, context_.size()});
  const auto found = std::ranges::lower_bound(to.ranks, me);
  const bool keeps_some = found != to.ranks.end() && *found == me;
  const auto self = keeps_some ? static_cast<std::int32_t>(found - to.ranks.begin()) : -1;
  std::vector<std::size_t> blocks;  // of cells
  for (std::size_t b = 0; b < tables_.blocks.size(); ++b)
    if (topology(tables_.blocks[b].type).dim == top) blocks.push_back(b);

  LeavingCells<Node> leaving(tables_, me, to, self);
  std::size_t at = 0;
  for (const std::size_t b : blocks) {
    leaving.pack(tables_.blocks[b], home_runs_.of_blocks[b], at);
    at += tables_.blocks[b].rows.size(me);
  }
  const auto received = exchange::route(context_, leaving.take_parcels(), exchange::Route::automatic);

  std::vector<MessageReader> readers;
  for (std::size_t p = 0; p < received.n_peers(); ++p) readers.emplace_back(received.of(p));
  std::size_t n_cells = std::ranges::count(to.of_row, self);
  std::size_t n_nodes = n_cells * table.nodes_per_entity;  // 0 for cells that vary
  for (MessageReader in : readers) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const ColumnsView<Node> columns(in);
      n_cells += columns.rows.size();
      n_nodes += columns.nodes.size();
    }
  }
  all_nodes.reserve(known_.with_room(n_nodes));
  table.global_ids.reserve(known_.with_room(n_cells));
  known_.parts.reserve(known_.with_room(n_cells));

  // Take blocks in order, and within a block senders in order.
  CellTaker<Node, Kept> taker{table, all_nodes, known_.parts, known_.cell_sets};
  at = 0;
  for (std::size_t k = 0; k < blocks.size(); ++k) {
    const CellBlock& block = tables_.blocks[blocks[k]];
    const std::int64_t first_row = tables_.first_row(blocks[k]);
    const auto first_of = [&](Rank rank) { return GlobalId{first_row + block.rows.first(rank)}; };
    std::size_t p = 0;
    for (; p < readers.size() && received.peers[p] < me; ++p)
      taker.take(block, ColumnsView<Node>(readers[p]), first_of(received.peers[p]));
    const std::size_t n = block.rows.size(me);
    taker.take_sets(leaving.kept_sets()[k]);
    taker.take_kept(block, first_of(me), std::span(to.of_row).subspan(at, n), self,
                    std::span(tables_.parts).subspan(at, n));
    at += n;
    for (; p < readers.size(); ++p) taker.take(block, ColumnsView<Node>(readers[p]), first_of(received.peers[p]));
  }
  known_.n_own = table.size();
}

}  // namespace barrio::mesh
