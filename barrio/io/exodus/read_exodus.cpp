#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/exchange/ask.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/merged_blocks.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/steps.hpp"
#include "barrio/io/exodus/exodus_source.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Exodus II. Rank 0 reads the list of blocks and sets. Then every rank reads its slab of each array. Blocks of one type
// and number of nodes become one block of the tables, in the order of the file.

namespace barrio::io::detail {
namespace {

using files::NetcdfFile;
using files::Rows;
using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;

void read_elements(ExodusSource& source, MeshTables& tables) {
  std::vector<ElementRun> runs;
  for (const ExodusBlock& block : source.catalog.blocks) runs.push_back({block.type, block.n_nodes, block.n});
  source.table_of = add_merged_blocks(source.context, tables, runs);
  Status fault;
  for (std::size_t b = 0; b < source.catalog.blocks.size(); ++b) {
    const ExodusBlock& block = source.catalog.blocks[b];
    CellBlock& into = source.table(tables, b);
    const auto nodes =
        read_exodus_nodes(source.file, source.path, source.catalog, block, source.rows_of(tables, b), fault);
    into.nodes.insert(into.nodes.end(), nodes.begin(), nodes.end());
  }
  agree(source.context, fault);
}

void add_material_sets(const ExodusSource& source, MeshTables& tables) {
  for (std::size_t b = 0; b < source.catalog.blocks.size(); ++b) {
    const ExodusBlock& block = source.catalog.blocks[b];
    const std::int32_t set = add_set(tables, {.kind = SetKind::material, .id = block.id, .name = block.name});
    if (source.context.is_root())
      tables.members.push_back(
          {set, mesh::topology(block.type).dim, tables.first_row(source.table_of[b]) + block.row, block.n});
  }
}

void read_node_sets(const ExodusSource& source, MeshTables& tables) {
  for (const ExodusSet& set : source.catalog.node_sets) {
    const std::int32_t place = add_set(tables, {.kind = SetKind::dirichlet, .id = set.id, .name = set.name});
    if (set.n == 0) continue;
    auto rows = source.file.integers(numbered("node_ns", set.number),
                                     slab_of({set.n, source.context.size()}, source.context.rank()));
    for (std::int64_t& row : rows) row -= 1;
    add_members(tables, place, Dim::vertex, std::move(rows));
  }
  agree_after(source.context, [&] {
    for (const mesh::SetRows& rows : tables.members) {
      if (rows.dim != Dim::vertex || (rows.first >= 0 && rows.first + rows.count <= source.catalog.n_vertices))
        continue;
      const std::size_t set = rows.set - source.catalog.blocks.size();
      refuse(
          ErrorCode::bad_input, source.path,
          fmt::format("{} has node {}, but the nodes are 1 to {}", name_of("node set", source.catalog.node_sets[set]),
                      rows.first < 0 ? rows.first + 1 : rows.first + rows.count, source.catalog.n_vertices),
          damaged_remedy);
    }
  });
}

/// A side as the file names it, and the position of its element.
struct NamedSide {
  std::int64_t row;    ///< of the element in its table
  std::int32_t block;  ///< index in the catalog
  std::int32_t side;   ///< 0-based; -1: the whole element, which is a shell or a bar
};

NamedSide locate(const ExodusSource& source, const ExodusSet& set, std::int64_t element, std::int64_t side) {
  const ExodusCatalog& catalog = source.catalog;
  if (element < 1 || element > catalog.n_elements)
    refuse(ErrorCode::bad_input, source.path,
           fmt::format("{} has element {}, but the elements are 1 to {}", name_of("side set", set), element,
                       catalog.n_elements),
           damaged_remedy);
  const auto behind = std::ranges::upper_bound(catalog.blocks, element - 1, {}, &ExodusBlock::first);
  const ExodusBlock& block = *(behind - 1);
  // A shell's first two sides are its faces. Both sides of a bar are the bar itself, or its ends where bars are the
  // cells.
  const bool has_ends = block.type == CellType::edge && catalog.has_bars_alone();
  const int n_wholes = block.is_shell || (block.type == CellType::edge && !has_ends) ? 2 : 0;
  const int n = has_ends ? 2 : n_wholes + (block.type == CellType::edge ? 0 : n_sides(block.type));
  if (side < 1 || side > n)
    refuse(ErrorCode::bad_input, source.path,
           fmt::format("{} has side {} of element {}, which is in {} and has sides 1 to {}", name_of("side set", set),
                       side, element, name_of(block), n),
           damaged_remedy);
  return {block.row + element - 1 - block.first, static_cast<std::int32_t>(behind - 1 - catalog.blocks.begin()),
          static_cast<std::int32_t>(side <= n_wholes ? -1 : side - 1 - n_wholes)};
}

ListedSide side_of(const ExodusSource& source, const MeshTables& tables, const NamedSide& named) {
  const CellBlock& cells = source.table(tables, named.block);
  const auto cell = cells.cell(named.row - cells.rows.first(source.context.rank()));
  ListedSide side{.type = cells.type};
  if (named.side < 0) {
    for (const GlobalId node : cell) side.nodes[side.n_nodes++] = node;
    return side;
  }
  if (cells.type == CellType::edge) {
    side.type = CellType::vertex;
    side.nodes[side.n_nodes++] = cell[named.side];
    return side;
  }
  const SidePlaces places = side_places(cells.type, cells.nodes_per_cell, named.side);
  side.type = places.type;
  for (const std::int8_t place : places.places) side.nodes[side.n_nodes++] = cell[place];
  return side;
}

void read_side_sets(const ExodusSource& source, MeshTables& tables) {
  // The lists of all sets are joined and cut into slabs, so that many small sets do not all burden rank 0.
  Slabs positions{0, source.context.size()};
  for (const ExodusSet& set : source.catalog.side_sets) positions.n_rows += set.n;
  const Rows mine = slab_of(positions, source.context.rank());
  std::vector<ListedSide> sides;
  std::vector<NamedSide> named;
  std::vector<std::int64_t> elements;
  std::vector<std::int64_t> numbers;
  std::vector<std::pair<const ExodusSet*, std::int32_t>> set_of;
  std::int64_t first = 0;
  for (const ExodusSet& set : source.catalog.side_sets) {
    const std::int32_t place = add_set(tables, {.kind = SetKind::neumann, .id = set.id, .name = set.name});
    if (set.n == 0) continue;
    const Rows rows = overlap(mine, first, set.n);
    const auto of = source.file.integers(numbered("elem_ss", set.number), rows);
    const auto which = source.file.integers(numbered("side_ss", set.number), rows);
    elements.insert(elements.end(), of.begin(), of.end());
    numbers.insert(numbers.end(), which.begin(), which.end());
    set_of.insert(set_of.end(), of.size(), {&set, place});
    first += set.n;
  }
  if (positions.n_rows == 0) return;
  std::vector<Rank> to;
  agree_after(source.context, [&] {
    for (std::size_t i = 0; i < elements.size(); ++i) {
      named.push_back(locate(source, *set_of[i].first, elements[i], numbers[i]));
      to.push_back(source.table(tables, named[i].block).rows.rank_of(named[i].row));
    }
  });
  // The rank that holds the element resolves its side.
  sides = exchange::ask(source.context, to, named,
                        [&](const NamedSide& question) { return side_of(source, tables, question); });
  for (std::size_t i = 0; i < sides.size(); ++i) {
    sides[i].position = mine.first + i;
    sides[i].set = set_of[i].second;
  }
  if (source.catalog.has_bars_alone()) {
    std::map<std::int32_t, std::vector<std::int64_t>> ends;
    for (const ListedSide& side : sides) ends[side.set].push_back(value(side.nodes[0]));
    for (auto& [set, rows] : ends) add_members(tables, set, Dim::vertex, std::move(rows));
    return;
  }
  list_sides(source.context, tables, sides, positions);
}

MeshTables read_all(ExodusSource& source, const std::vector<std::string>& without_tags) {
  MeshTables tables;
  tables.vertices = {source.catalog.n_vertices, source.context.size()};
  tables.coordinates =
      read_exodus_coordinates(source.file, source.catalog, slab_of(tables.vertices, source.context.rank()));
  read_elements(source, tables);
  add_material_sets(source, tables);
  read_node_sets(source, tables);
  read_exodus_tags(source, without_tags, tables);
  read_side_sets(source, tables);
  return tables;
}

}  // namespace

MeshTables read_exodus(mpi::Context& context, const std::string& path, const TableOptions& options) {
  ExodusCatalog catalog;
  agree_after(context, [&] {
    if (context.is_root()) catalog = read_exodus_catalog(NetcdfFile(path), path);
  });
  share(context, catalog);
  if (!catalog.left_out.empty())
    context.log().notice(fmt::format("{}: left out: {}", path, fmt::join(catalog.left_out, "; ")));
  const std::int64_t step = chosen_step(context, path, options.step, catalog.n_steps);
  ExodusSource source{context, path, NetcdfFile(context, path), std::move(catalog), step};
  return files::or_close(source.file, [&] { return read_all(source, options.without_tags); });
}

}  // namespace barrio::io::detail
