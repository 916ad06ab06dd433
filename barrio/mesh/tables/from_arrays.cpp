#include "barrio/mesh/from_arrays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/partition_cells.hpp"
#include "barrio/mesh/tables/agreed_arrays.hpp"
#include "barrio/mesh/tables/row_numbers.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// The entities of all ranks are numbered first, then sent to the slabs of the tables: vertices and values of tags as
// rows of bytes, cells as records of words.

namespace barrio::mesh {
namespace {

using detail::AgreedArrays;

constexpr RegionName from_arrays_region{"mesh.from_arrays"};

/// Values of this rank's slab, as rows of bytes.
struct Homed {
  std::vector<std::byte> bytes;
  std::optional<std::int64_t> differs;  // a row that was received with different bytes
};

/// Send each row's bytes to its home. If several ranks send a row, the lowest rank's bytes win. Collective.
/// @pre each row of the slabs is sent by some rank
Homed send_home(mpi::Context& context, const Slabs& slabs, std::span<const GlobalId> rows,
                std::span<const std::byte> values, std::size_t row_bytes) {
  std::vector<Rank> to;
  to.reserve(rows.size());
  for (const GlobalId row : rows) to.push_back(slabs.rank_of(row));
  const std::vector<std::size_t> order = exchange::order_by_rank(to);
  exchange::Parcels<std::byte> parcels;
  for (std::size_t i = 0; i < order.size();) {
    const Rank home = to[order[i]];
    std::vector<std::byte> group;
    for (; i < order.size() && to[order[i]] == home; ++i) {
      const std::int64_t row = value(rows[order[i]]);
      const auto head = std::as_bytes(std::span(&row, 1));
      const auto body = values.subspan(order[i] * row_bytes, row_bytes);
      group.insert(group.end(), head.begin(), head.end());
      group.insert(group.end(), body.begin(), body.end());
    }
    parcels.add(home, group);
  }
  const auto received = exchange::route(context, parcels, exchange::Route::automatic);
  Homed homed{.bytes = std::vector<std::byte>(slabs.size(context.rank()) * row_bytes), .differs = {}};
  std::vector<bool> is_there(slabs.size(context.rank()), false);
  const std::int64_t first = slabs.first(context.rank());
  for (std::size_t at = 0; at < received.items.size(); at += sizeof first + row_bytes) {
    std::int64_t row = 0;
    std::memcpy(&row, &received.items[at], sizeof row);
    const std::size_t place = row - first;
    std::byte* const home = homed.bytes.data() + place * row_bytes;
    const std::byte* const body = received.items.data() + at + sizeof row;
    if (!is_there[place]) {
      std::memcpy(home, body, row_bytes);
      is_there[place] = true;
    } else if (std::memcmp(home, body, row_bytes) != 0 && (!homed.differs || row < *homed.differs)) {
      homed.differs = row;
    }
  }
  return homed;
}

/// Makes tables from the arrays of all ranks.
class ArrayTables {
 public:
  ArrayTables(mpi::Context& context, const MeshArrays& arrays)
      : context_(context), arrays_(arrays), agreed_(detail::agree_on_arrays(context, arrays)) {}

  MeshTables run() && {
    number_vertices();
    place_vertices();
    for (const CellType type : all_cell_types)
      if (type != CellType::vertex && agreed_.n_rows[index(type)] > 0) place_cells(type);
    out_.n_parts = agreed_.has_parts ? agreed_.n_parts : 0;
    for (std::int32_t s = 0; s < std::ssize(arrays_.sets); ++s) place_set(s);
    for (std::size_t t = 0; t < arrays_.tags.size(); ++t) place_tag(t);
    return std::move(out_);
  }

 private:
  void number_vertices() {
    const std::size_t n = detail::n_given(arrays_, CellType::vertex);
    if (!agreed_.has_ids) {
      for (std::size_t v = 0; v < n; ++v) vertex_rows_.push_back(GlobalId{agreed_.first_row[0]} + v);
      out_.vertices = {agreed_.n_rows[0], context_.size()};
      return;
    }
    // Each id has one home, which counts it once even if several ranks give it.
    std::vector<GlobalId> ids;
    for (const std::int64_t id : arrays_.vertex_ids) ids.push_back(GlobalId{id});
    const std::int64_t highest = mpi::max(context_, ids.empty() ? -1 : value(*std::ranges::max_element(ids)));
    const Slabs homes{highest + 1, context_.size()};
    std::vector<Rank> to;
    for (const GlobalId id : ids) to.push_back(homes.rank_of(id));
    auto heard = exchange::route(context_, exchange::pack_by_rank<GlobalId>(to, ids), exchange::Route::automatic).items;
    sort_unique(heard);
    numbers_ = detail::RowNumbers(context_, heard, {}, false);
    vertex_rows_ = numbers_.rows_of(ids);
    out_.vertices = {numbers_.n_rows(), context_.size()};
  }

  void place_vertices() {
    constexpr std::size_t row_bytes = 3 * sizeof(double);
    const Homed homed = send_home(context_, out_.vertices, vertex_rows_, std::as_bytes(arrays_.coordinates), row_bytes);
    constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
    const std::int64_t wrong = mpi::min(context_, homed.differs.value_or(none));
    if (wrong != none) refuse_place(GlobalId{wrong});
    out_.coordinates.resize(homed.bytes.size() / sizeof(double));
    if (!homed.bytes.empty()) std::memcpy(out_.coordinates.data(), homed.bytes.data(), homed.bytes.size());
  }

  /// Refuse a vertex with contradictory positions. Collective. @param row  row of the vertex
  void refuse_place(GlobalId row) const {
    agree_after(context_, [&] {
      const auto at = std::ranges::find(vertex_rows_, row) - vertex_rows_.begin();
      if (at < std::ssize(vertex_rows_))
        throw Error(ErrorCode::bad_input,
                    {.subject = fmt::format("vertex id {}", arrays_.vertex_ids[at]),
                     .cause = "is given with different coordinates",
                     .remedy = "all ranks that give a vertex must give bitwise identical coordinates"});
    });
  }

  /// Look up the rows of the nodes of cells. Collective.
  [[nodiscard]] std::vector<GlobalId> rows_of(const MeshArrays::Cells& cells) const {
    std::vector<GlobalId> rows;
    rows.reserve(cells.nodes.size());
    for (const std::int64_t node : cells.nodes) rows.push_back(GlobalId{node});
    if (!agreed_.has_ids) return rows;
    rows = numbers_.rows_of(rows);
    agree_after(context_, [&] {
      const auto missing = std::ranges::find(rows, no_global_id) - rows.begin();
      if (missing < std::ssize(rows))
        throw Error(ErrorCode::bad_input,
                    {.subject = std::string(topology(cells.type).plural),
                     .cause = fmt::format("refer to vertex {}, which no rank gives", cells.nodes[missing])});
    });
    return rows;
  }

  /// Send the cells of a type to their slabs. One record per cell: row in the slab, part, number of nodes, nodes.
  void place_cells(CellType type) {
    const std::size_t t = index(type);
    const auto given = std::ranges::find(arrays_.cells, type, &MeshArrays::Cells::type);
    const MeshArrays::Cells cells = given == arrays_.cells.end() ? MeshArrays::Cells{.type = type} : *given;
    const std::vector<GlobalId> nodes = rows_of(cells);
    CellBlock block;
    block.type = type;
    block.rows = {agreed_.n_rows[t], context_.size()};
    block.nodes_per_cell = agreed_.nodes_per_cell[t];
    exchange::Outbox outbox;
    auto node = nodes.begin();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const std::int64_t row = agreed_.first_row[t] + i;
      const Rank home = block.rows.rank_of(row);
      std::vector<std::int64_t>& words = outbox.begin(home);
      words.push_back(row - block.rows.first(home));
      words.push_back(cells.parts.empty() ? -1 : cells.parts[i]);
      const std::size_t n = detail::nodes_of(cells, i).size();
      words.push_back(n);
      for (std::size_t k = 0; k < n; ++k) words.push_back(value(*node++));
    }
    const auto received = exchange::route(context_, outbox.parcels(), exchange::Route::automatic);
    unpack(received.items, block);
    out_.blocks.push_back(std::move(block));
  }

  void unpack(std::span<const std::int64_t> words, CellBlock& block) {
    std::vector<std::span<const std::int64_t>> cells(block.rows.size(context_.rank()));
    std::vector<std::int32_t> parts(cells.size());
    for (exchange::WordReader in(words); !in.done();) {
      const std::size_t row = in.get();
      parts[row] = static_cast<std::int32_t>(in.get());
      const std::size_t n = in.get();
      cells[row] = in.get(n);
    }
    if (block.nodes_per_cell == 0) block.offsets.push_back(0);
    for (const std::span<const std::int64_t> cell : cells) {
      for (const std::int64_t node : cell) block.nodes.push_back(GlobalId{node});
      if (block.nodes_per_cell == 0) block.offsets.push_back(std::ssize(block.nodes));
    }
    if (agreed_.has_parts && topology(block.type).dim == top_dim())
      out_.parts.insert(out_.parts.end(), parts.begin(), parts.end());
  }

  /// Return the highest dimension of all cells, including those not placed yet.
  [[nodiscard]] Dim top_dim() const noexcept {
    Dim top = Dim::vertex;
    for (const CellType type : all_cell_types)
      if (agreed_.n_rows[index(type)] > 0) top = std::max(top, topology(type).dim);
    return top;
  }

  /// Return the place of the block of a type; -1 for vertices.
  [[nodiscard]] std::int32_t block_of(CellType type) const noexcept {
    if (type == CellType::vertex) return -1;
    return static_cast<std::int32_t>(std::ranges::find(out_.blocks, type, &CellBlock::type) - out_.blocks.begin());
  }

  void place_set(std::int32_t s) {
    out_.sets.push_back(arrays_.sets[s].info);
    for (const MeshArrays::Members& members : arrays_.sets[s].members) {
      if (members.places.empty()) continue;
      const std::int32_t block = block_of(members.type);
      const std::int64_t first = block < 0 ? 0 : out_.first_row(block) + agreed_.first_row[index(members.type)];
      std::vector<std::int64_t> rows;
      for (const std::int64_t place : members.places)
        rows.push_back(block < 0 ? value(vertex_rows_[place]) : first + place);
      sort_unique(rows);
      SetRows run{s, topology(members.type).dim, rows.front(), 0};
      for (const std::int64_t row : rows) {
        if (row != run.first + run.count) {
          out_.members.push_back(run);
          run.first = row;
          run.count = 0;
        }
        run.count += 1;
      }
      out_.members.push_back(run);
    }
  }

  void place_tag(std::size_t t) {
    const MeshArrays::Tag& tag = arrays_.tags[t];
    TagTable& table = out_.tags.emplace_back(TagTable{.info = agreed_.tags[t]});
    for (const CellType type : all_cell_types) {
      if (!agreed_.tag_has[t][index(type)]) continue;
      const auto values = std::ranges::find(tag.values, type, &MeshArrays::Values::type);
      std::vector<GlobalId> rows = type == CellType::vertex ? vertex_rows_ : std::vector<GlobalId>{};
      if (type != CellType::vertex)
        for (std::size_t i = 0; i < detail::n_given(arrays_, type); ++i)
          rows.push_back(GlobalId{agreed_.first_row[index(type)]} + i);
      const std::int32_t block = block_of(type);
      const Slabs& slabs = block < 0 ? out_.vertices : out_.blocks[block].rows;
      const auto bytes = values == tag.values.end() ? std::span<const std::byte>{} : values->bytes;
      TagColumn& column = table.columns.emplace_back(TagColumn{.block = block});
      column.items.bytes = send_home(context_, slabs, rows, bytes, table.info.value_bytes()).bytes;
    }
  }

  mpi::Context& context_;
  const MeshArrays& arrays_;
  AgreedArrays agreed_;
  MeshTables out_;
  detail::RowNumbers numbers_;         // of vertex ids
  std::vector<GlobalId> vertex_rows_;  // of the vertices that this rank gives
};

}  // namespace

MeshTables tables_from_arrays(mpi::Context& context, const MeshArrays& arrays) {
  const Region region(context.trace(), from_arrays_region);
  MeshTables tables = ArrayTables(context, arrays).run();
  validate(context, tables, "mesh arrays");
  return tables;
}

Mesh mesh_from_arrays(mpi::Context& context, const MeshArrays& arrays, const FromArraysOptions& options) {
  check_partitioner(options.partitioner);
  MeshTables tables = tables_from_arrays(context, arrays);
  if (tables.n_parts == 0)
    partition_cells(context, tables, arrays.n_parts > 0 ? arrays.n_parts : context.size(), options.partitioner);
  return {context, tables, options.build};
}

}  // namespace barrio::mesh
