#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/common/id_sets.hpp"
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/tagged_vertices.hpp"
#include "barrio/io/gmsh/gmsh_groupless.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Gmsh 4.1 in two passes. Rank 0 scans the file once with a bounded buffer and finds where each rank's share begins.
// Then every rank reads its own share. No rank holds the mesh.

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;

/// A group of element blocks of the file that become one block of the tables.
struct KindRows {
  const CellKind* kind = nullptr;
  std::int64_t n = 0;
};

/// Send elements to the ranks that hold their rows, and put them into the block in barrio's order. Collective.
/// @param words  of each element its row and its nodes in Gmsh's order
void bring_elements(mpi::Context& context, const CellKind& kind, std::span<const std::int64_t> words,
                    CellBlock& block) {
  const std::size_t n = kind.n_nodes;
  std::vector<Rank> to;
  for (std::size_t at = 0; at < words.size(); at += n + 1) to.insert(to.end(), n + 1, block.rows.rank_of(words[at]));
  const std::vector<std::int64_t> arrived =
      exchange::route(context, exchange::pack_by_rank<std::int64_t>(to, words)).items;
  const std::int64_t first = block.rows.first(context.rank());
  block.nodes.resize(arrived.size() / (n + 1) * n);
  for (std::size_t at = 0; at < arrived.size(); at += n + 1)
    std::ranges::transform(std::span(arrived).subspan(at + 1, n),
                           block.nodes.begin() + (arrived[at] - first) * kind.n_nodes,
                           [](std::int64_t node) { return GlobalId{node}; });
  kind.put_in_order<GlobalId>(block.nodes);
}

/// Elements that are points, read by this rank: vertices stand for them, and are in their groups.
struct Points {
  std::vector<std::size_t> blocks;
  std::vector<GlobalId> nodes;

  void add(std::size_t block, std::int64_t node) {
    blocks.push_back(block);
    nodes.push_back(GlobalId{node});
  }
};

/// Put vertices into the sets that are groups of points. Collective.
void add_points(const std::string& path, const GmshIndex& index, Points points, const VertexRows& rows,
                const std::map<std::pair<int, int>, std::int32_t>& set_of, MeshTables& tables) {
  rows.translate(path, points.nodes);
  std::map<std::int32_t, std::vector<std::int64_t>> members;
  for (std::size_t i = 0; i < points.nodes.size(); ++i)
    for (const int group : index.groups_of(0, index.elements[points.blocks[i]].entity_tag))
      members[set_of.at({0, group})].push_back(value(points.nodes[i]));
  for (auto& [set, of_set] : members) add_members(tables, set, Dim::vertex, std::move(of_set));
}

/// Give this rank's cells the parts of the entities that they are on. Local.
void take_parts(const mpi::Context& context, const GmshIndex& index, const std::map<int, std::size_t>& block_of_type,
                std::span<const std::int64_t> first_of_block, MeshTables& tables) {
  tables.n_parts = index.n_parts;
  std::vector<std::size_t> first_part(tables.blocks.size());  // of each block, in `parts`
  for (std::size_t into = 0; into < tables.blocks.size(); ++into) {
    first_part[into] = tables.parts.size();
    if (mesh::topology(tables.blocks[into].type).dim == tables.top_dim())
      tables.parts.resize(tables.parts.size() + tables.blocks[into].rows.size(context.rank()), -1);
  }
  for (std::size_t b = 0; b < index.elements.size(); ++b) {
    const GmshIndex::Block& block = index.elements[b];
    if (block.n == 0 || block.entity_dim != value(tables.top_dim())) continue;
    const std::size_t into = block_of_type.at(block.type);
    const Slabs& slabs = tables.blocks[into].rows;
    const std::int64_t mine = slabs.first(context.rank());
    const std::int64_t first = std::max(first_of_block[b], mine);
    const std::int64_t end = std::min(first_of_block[b] + block.n, slabs.first(context.rank() + 1));
    const auto to = tables.parts.begin() + static_cast<std::ptrdiff_t>(first_part[into]);
    if (first < end)
      std::fill(to + (first - mine), to + (end - mine), index.part_of(block.entity_dim, block.entity_tag));
  }
}

/// Drop the parts if some cells are in none, as the ghosts in files of single partitions. Collective.
void drop_partial_parts(mpi::Context& context, const std::string& path, MeshTables& tables) {
  const std::int64_t n_without = mpi::sum(context, std::int64_t{std::ranges::count(tables.parts, -1)});
  if (n_without == 0) return;
  context.log().notice(
      fmt::format("{}: {} element(s) are in no partition, as ghosts of other files are: its partition is not used",
                  path, n_without));
  tables.n_parts = 0;
  tables.parts.clear();
}

void say_empty_groups(mpi::Context& context, const std::string& path, const GmshIndex& index,
                      const std::map<std::pair<int, int>, std::int32_t>& set_of) {
  std::vector<std::string> empty;
  const auto has_set = [&](const std::pair<int, int>& key, const std::string& name) {
    // A name may be given to groups of all dimensions.
    for (int dim = 0; dim < 4; ++dim)
      if (set_of.contains({dim, key.second}) && index.group_name(dim, key.second) == name) return true;
    return false;
  };
  for (const auto& [key, name] : index.group_names)
    if (!has_set(key, name)) empty.push_back(fmt::format("'{}'", name));
  if (!empty.empty())
    context.log().notice(fmt::format("{}: groups without elements are left out: {}", path, fmt::join(empty, ", ")));
}

}  // namespace

MeshTables read_gmsh(mpi::Context& context, const std::string& path) {
  GmshIndex index;
  agree_after(context, [&] {
    if (context.is_root()) index = index_gmsh(path, context.size());
  });
  if (!index.left_out.empty())
    context.log().notice(fmt::format("{}: left out: {}", path, fmt::join(index.left_out, ", ")));
  index.share(context);
  const GmshShares shares = index.shares_of(context);
  if (index.is_old) return read_old_gmsh(context, path, index, shares);

  MeshTables tables;
  std::vector<TaggedVertex> vertices;
  std::map<int, std::vector<std::int64_t>> elements;  // this rank's by Gmsh type: row among those of its kind, nodes
  Points points;
  // Rows of a kind run through the file's blocks of that kind in their order.
  std::map<int, KindRows> kinds;
  std::vector<std::int64_t> first_of_block;
  agree_after(context, [&] {
    for (const GmshIndex::Block& block : index.elements) {
      KindRows& rows = kinds[block.type];
      rows.kind = gmsh_kind(block.type);  // types without a kind were refused with the index
      first_of_block.push_back(rows.n);
      rows.n += block.n;
    }
    read_gmsh_nodes(path, index, shares,
                    [&](std::int64_t tag, const std::array<double, 3>& x) { vertices.push_back({tag, x}); });
    read_gmsh_elements(path, index, shares,
                       [&](std::size_t block, std::int64_t row, std::span<const std::int64_t> nodes) {
                         if (index.elements[block].entity_dim == 0) return points.add(block, nodes[0]);
                         std::vector<std::int64_t>& words = elements[index.elements[block].type];
                         words.push_back(first_of_block[block] + row);
                         words.insert(words.end(), nodes.begin(), nodes.end());
                       });
  });
  std::int64_t max_tag = index.max_node_tag;
  for (const TaggedVertex& v : vertices) max_tag = std::max(max_tag, v.tag);
  const VertexRows rows(context, path, std::move(vertices), mpi::max(context, max_tag), tables);

  // Blocks in ascending dimension and type, as .h5m files have them.
  std::map<int, std::size_t> block_of_type;
  std::vector<std::pair<CellType, int>> order;
  for (const auto& [gmsh_type, kind] : kinds)
    if (kind.kind->type != CellType::vertex && kind.n > 0) order.emplace_back(kind.kind->type, gmsh_type);
  std::sort(order.begin(), order.end());
  for (const auto& [type, gmsh_type] : order) {
    const KindRows& kind = kinds[gmsh_type];
    CellBlock block;
    block.type = type;
    block.nodes_per_cell = kind.kind->n_nodes;
    block.rows = {kind.n, context.size()};
    bring_elements(context, *kind.kind, elements[gmsh_type], block);
    rows.translate(path, block.nodes);
    block_of_type[gmsh_type] = tables.blocks.size();
    tables.blocks.push_back(std::move(block));
  }
  if (tables.top_dim() == Dim::vertex)
    throw AgreedError(ErrorCode::bad_input,
                      {.subject = path, .cause = "has no elements other than points", .remedy = no_cells_remedy});

  // Physical groups become sets: materials of the top dimension, boundaries below it, and sets of vertices.
  std::map<std::pair<int, int>, std::int32_t> set_of;
  for (std::size_t b = 0; b < index.elements.size(); ++b) {
    const GmshIndex::Block& block = index.elements[b];
    if (block.n == 0) continue;
    const int dim = block.entity_dim;
    for (const int group : index.groups_of(dim, block.entity_tag)) {
      const auto [at, is_new] = set_of.try_emplace({dim, group}, -1);
      if (is_new)
        at->second = add_set(
            tables,
            {.kind = kind_of_id_set(Dim{dim}, tables.top_dim()), .id = group, .name = index.group_name(dim, group)});
      if (context.is_root() && dim > 0) {
        const std::size_t into = block_of_type[block.type];
        tables.members.push_back({at->second, Dim{dim}, tables.first_row(into) + first_of_block[b], block.n});
      }
    }
  }
  add_points(path, index, points, rows, set_of, tables);
  if (index.n_parts_of(value(tables.top_dim())) > 0) {
    take_parts(context, index, block_of_type, first_of_block, tables);
    drop_partial_parts(context, path, tables);
  }
  say_empty_groups(context, path, index, set_of);
  GmshGroupless groupless;
  if (context.is_root()) groupless.add_all(index);
  if (const auto told = groupless.described(); !told.empty())
    context.log().notice(fmt::format("{}: {}", path, fmt::join(told, "; ")));
  return tables;
}

}  // namespace barrio::io::detail
