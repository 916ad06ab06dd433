#include "barrio/mesh/to_tables.hpp"

#include <fmt/format.h>

#include "barrio/base/memory.hpp"
#include "barrio/exchange/outbox.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/cell_type.hpp"
#include "barrio/mesh/nested_sets.hpp"
#include "barrio/mesh/tables/collected_rows.hpp"
#include "barrio/mpi/collectives.hpp"

// Owners send their entities to the homes of the rows. The rows of each block are known beforehand, so cells travel
// only once.

namespace barrio::mesh {
namespace {

using detail::CollectedRows;
using detail::KindRun;
using detail::RowNumbers;
using detail::TableRow;

constexpr RegionName region_name{"mesh.to_tables"};

/// Encode the type of cells and their number of nodes in one number.
std::int64_t kind_of(CellType type, std::int64_t n_nodes) {
  const bool varies = topology(type).n_corners == 0;
  const std::int64_t number = index(type);
  return number << 32 | (varies ? 0 : n_nodes);
}

/// Find the runs that become blocks. If there are too many, runs of one type are merged regardless of their numbers of
/// nodes, because every rank stores every block.
std::vector<KindRun> block_runs(std::vector<KindRun> runs) {
  constexpr std::size_t most = 1024;
  if (runs.size() <= most) return runs;
  std::vector<KindRun> merged;
  for (KindRun& run : runs) {
    run.kind = run.kind >> 32 << 32;
    if (!merged.empty() && merged.back().kind == run.kind) {
      merged.back().count += run.count;
    } else {
      merged.push_back(run);
    }
  }
  return merged;
}

class Collector {
 public:
  Collector(const Mesh& mesh, MeshTables& out) : mesh_(mesh), context_(mesh.context()), out_(out) {}

  CollectedRows run() {
    collect_vertices();
    for (int d = value(mesh_.cell_dim()); d > 0; --d)
      if (mesh_.n_global(Dim{d}) > 0) collect_cells(Dim{d});
    out_.n_parts = mesh_.n_parts();
    collect_sets();
    return std::move(rows_);
  }

 private:
  void number(Dim dim, std::span<const std::int64_t> kinds, bool has_kinds) {
    const auto d = index(dim);
    const std::span<const GlobalId> ids = mesh_.global_ids(dim).first(mesh_.n_owned(dim));
    rows_.numbers[d] = RowNumbers(context_, ids, kinds, has_kinds);
    if (dim != Dim::vertex) rows_.of_own[d] = rows_.numbers[d].rows_of(ids);
    if (rows_.numbers[d].has_holes()) {
      context_.log().info(
          fmt::format("the mesh leaves out some {} of its file, so the following ones get lower numbers in the tables",
                      dim == Dim::vertex ? "vertices" : fmt::format("entities of dimension {}", d)));
    }
  }

  void collect_vertices() {
    number(Dim::vertex, {}, false);
    vertex_rows_ = rows_.numbers[0].rows_of(mesh_.global_ids(Dim::vertex));
    rows_.of_own[0].assign(vertex_rows_.begin(), vertex_rows_.begin() + mesh_.n_owned(Dim::vertex));
    rows_.blocks[0].emplace_back(0, -1);
    out_.vertices = {rows_.numbers[0].n_rows(), context_.size()};
    struct Vertex {
      std::int64_t row;
      std::array<double, 3> x;
    };
    std::vector<Rank> to;
    std::vector<Vertex> vertices;
    to.reserve(rows_.of_own[0].size());
    vertices.reserve(rows_.of_own[0].size());
    const std::vector<double>& x = mesh_.vertices().coordinates;
    for (std::size_t v = 0; v < rows_.of_own[0].size(); ++v) {
      const GlobalId row = rows_.of_own[0][v];
      to.push_back(out_.vertices.rank_of(row));
      vertices.push_back({value(row), {x[3 * v], x[3 * v + 1], x[3 * v + 2]}});
    }
    const auto parcels = exchange::pack_by_rank<Vertex>(to, vertices);
    free_memory(vertices);
    out_.coordinates.resize(3 * out_.vertices.size(context_.rank()));
    const std::int64_t first = out_.vertices.first(context_.rank());
    for (const Vertex& vertex : exchange::route(context_, parcels, exchange::Route::automatic).items)
      std::ranges::copy(vertex.x, out_.coordinates.begin() + 3 * (vertex.row - first));
  }

  void collect_cells(Dim dim) {
    const auto d = index(dim);
    const EntityTable& table = mesh_.entities(dim);
    const bool has_kinds =
        !table.has_one_type || (table.nodes_per_entity == 0 && topology(table.type(0)).n_corners > 0);
    std::vector<std::int64_t> kinds;
    if (has_kinds)
      for (std::size_t i = 0; i < table.n_owned; ++i) kinds.push_back(kind_of(table.type(i), table.nodes_of(i).size()));
    number(dim, kinds, has_kinds);
    std::vector<KindRun> runs = block_runs(rows_.numbers[d].runs());
    if (!has_kinds) runs[0].kind = kind_of(table.type(0), table.nodes_per_entity);
    for (const KindRun& run : runs) {
      rows_.blocks[d].emplace_back(run.first, static_cast<std::int32_t>(out_.blocks.size()));
      CellBlock block;
      block.type = all_cell_types[run.kind >> 32];
      block.rows = {run.count, context_.size()};
      block.nodes_per_cell = run.kind & INT32_MAX;
      out_.blocks.push_back(std::move(block));
    }
    const auto received = exchange::route(context_, packed(dim), exchange::Route::automatic);
    unpack(dim, received.items);
  }

  /// Pack the cells of a dimension. Cells with consecutive rows in one slab form one record: block, row in the slab,
  /// number of cells; then for each cell its part, if there are parts, its number of nodes and its nodes.
  [[nodiscard]] exchange::Parcels<std::int64_t> packed(Dim dim) const {
    const auto d = index(dim);
    const EntityTable& table = mesh_.entities(dim);
    exchange::Outbox outbox;
    std::vector<std::int64_t>* words = nullptr;
    std::size_t count_at = 0;
    TableRow next{-1, -1};
    std::int64_t slab_end = 0;
    for (std::size_t i = 0; i < table.n_owned; ++i) {
      const TableRow place = rows_.place_of(dim, rows_.of_own[d][i]);
      if (place.block != next.block || place.row != next.row || place.row == slab_end) {
        const Slabs& slabs = out_.blocks[place.block].rows;
        const Rank home = slabs.rank_of(place.row);
        slab_end = slabs.first(home + 1);
        words = &outbox.begin(home);
        words->push_back(place.block);
        words->push_back(place.row - slabs.first(home));
        count_at = words->size();
        words->push_back(0);
      }
      (*words)[count_at] += 1;
      if (dim == mesh_.cell_dim()) words->push_back(mesh_.cell_parts()[i]);
      const std::span<const LocalId> nodes = table.nodes_of(i);
      words->push_back(std::ssize(nodes));
      for (const LocalId node : nodes) words->push_back(value(vertex_rows_[index(node)]));
      next = {place.block, place.row + 1};
    }
    return outbox.parcels();
  }

  void unpack(Dim dim, std::span<const std::int64_t> words) {
    const auto& blocks = rows_.blocks[index(dim)];
    const std::size_t first_block = blocks.front().second;
    std::vector<std::vector<std::span<const std::int64_t>>> cells;  // by block and row
    std::vector<std::vector<std::int32_t>> parts;
    for (std::size_t b = first_block; b < out_.blocks.size(); ++b) {
      cells.emplace_back(out_.blocks[b].rows.size(context_.rank()));
      parts.emplace_back(dim == mesh_.cell_dim() ? cells.back().size() : 0);
    }
    for (exchange::WordReader in(words); !in.done();) {
      const std::size_t b = in.get() - first_block;
      std::size_t row = in.get();
      for (const std::size_t end = row + in.get(); row < end; ++row) {
        if (!parts[b].empty()) parts[b][row] = static_cast<std::int32_t>(in.get());
        const std::size_t n_nodes = in.get();
        cells[b][row] = in.get(n_nodes);
      }
    }
    for (std::size_t b = 0; b < cells.size(); ++b) {
      CellBlock& block = out_.blocks[first_block + b];
      block.nodes.reserve(cells[b].size() * block.nodes_per_cell);
      if (block.nodes_per_cell == 0) block.offsets.push_back(0);
      for (const std::span<const std::int64_t> cell : cells[b]) {
        for (const std::int64_t node : cell) block.nodes.push_back(GlobalId{node});
        if (block.nodes_per_cell == 0) block.offsets.push_back(std::ssize(block.nodes));
      }
      out_.parts.insert(out_.parts.end(), parts[b].begin(), parts[b].end());
    }
  }

  void collect_sets() {
    std::vector<SetInfo> infos;
    for (const MeshSet& set : mesh_.sets()) infos.push_back(set.info);
    const NestedSets nested(infos);
    for (std::int32_t s = 0; s < std::ssize(mesh_.sets()); ++s) {
      const MeshSet& set = mesh_.sets()[s];
      SetInfo& info = out_.sets.emplace_back(set.info);
      info.is_ordered = false;
      info.contained.clear();
      for (const SetInSet& inner : set.info.contained)
        if (std::ranges::find(info.contained, inner.set, &SetInSet::set) == info.contained.end())
          info.contained.push_back({inner.set});
      for (int d = 0; d <= value(mesh_.cell_dim()); ++d) {
        const auto members = [&](const MeshSet& of) -> const Range& { return d == 0 ? of.vertices : of.entities[d]; };
        Range own = members(set).intersected({LocalId{0}, local_id(mesh_.n_owned(Dim{d}))});
        for (const SetInSet& inner : info.contained)
          if (nested.group_of(inner.set) != nested.group_of(s)) own = own.without(members(mesh_.sets()[inner.set]));
        SetRows run{s, Dim{d}, 0, 0};
        for (const LocalId id : own) {
          const std::int64_t row = value(rows_.of_own[d][index(id)]);
          if (run.count > 0 && row != run.first + run.count) {
            out_.members.push_back(run);
            run.count = 0;
          }
          if (run.count == 0) run.first = row;
          run.count += 1;
        }
        if (run.count > 0) out_.members.push_back(run);
      }
    }
  }

  const Mesh& mesh_;
  mpi::Context& context_;
  MeshTables& out_;
  CollectedRows rows_;
  std::vector<GlobalId> vertex_rows_;  // rows of all local vertices
};

}  // namespace

MeshTables to_tables(const Mesh& mesh, const ToTablesOptions& options) {
  const Region region(mesh.context().trace(), region_name);
  MeshTables tables;
  const CollectedRows rows = Collector(mesh, tables).run();
  detail::collect_tags(mesh, rows, options.with_fields, tables);
  tables.part_sets.values = mesh.part_sets().values;
  for (const PartSets::Tag& tag : mesh.part_sets().tags) {
    const auto is_same = [&](const TagTable& table) {  // excludes a field of that name with another type
      const TagInfo& info = mesh.tag(tag.name).info;
      return table.info.name == tag.name && table.info.type == info.type &&
             table.info.n_components == info.n_components && table.info.length_varies == info.length_varies;
    };
    if (std::ranges::any_of(tables.tags, is_same)) tables.part_sets.tags.push_back(tag);
  }
  return tables;
}

}  // namespace barrio::mesh
