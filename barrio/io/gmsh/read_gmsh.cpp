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
#include "barrio/io/common/listed_sides.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/tagged_vertices.hpp"
#include "barrio/io/gmsh/gmsh_file.hpp"
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
using mesh::SetKind;

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
    throw AgreedError(ErrorCode::bad_input, {.subject = path, .cause = "has no elements other than points"});

  // Physical groups become sets: materials of the top dimension, boundaries below it.
  std::map<std::pair<int, int>, std::int32_t> set_of;
  for (std::size_t b = 0; b < index.elements.size(); ++b) {
    const GmshIndex::Block& block = index.elements[b];
    if (block_of_type.count(block.type) == 0) continue;
    for (const int group : index.groups_of(block.entity_dim, block.entity_tag)) {
      const auto [at, is_new] = set_of.try_emplace({block.entity_dim, group}, -1);
      if (is_new) {
        const bool is_of_cells = block.entity_dim == value(tables.top_dim());
        at->second = add_set(tables, {.kind = is_of_cells ? SetKind::material : SetKind::neumann,
                                      .id = group,
                                      .name = index.group_name(block.entity_dim, group)});
      }
      if (context.is_root()) {
        const std::size_t into = block_of_type[block.type];
        tables.members.push_back(
            {at->second, Dim{block.entity_dim}, tables.first_row(into) + first_of_block[b], block.n});
      }
    }
  }
  return tables;
}

}  // namespace barrio::io::detail
