#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <tuple>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/io/detail/gmsh_file.hpp"
#include "barrio/io/detail/readers.hpp"
#include "barrio/io/detail/tagged_vertices.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// Gmsh 4.1 in two passes. Rank 0 walks over the file once with a bounded buffer and finds where each rank's share
// begins; then every rank reads its own share. No rank holds the mesh.

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;
using mesh::SetKind;

struct ElementKind {
  int gmsh_type;
  CellType type;
  int n_nodes;
};
constexpr std::array<ElementKind, 7> element_kinds{{{1, CellType::edge, 2},
                                                    {2, CellType::triangle, 3},
                                                    {3, CellType::quad, 4},
                                                    {4, CellType::tet, 4},
                                                    {5, CellType::hex, 8},
                                                    {6, CellType::prism, 6},
                                                    {7, CellType::pyramid, 5}}};
constexpr int gmsh_point = 15;

const ElementKind* kind_of(int gmsh_type) {
  for (const ElementKind& kind : element_kinds)
    if (kind.gmsh_type == gmsh_type) return &kind;
  return nullptr;
}

/// A group of element blocks of the file that become one block of the tables.
struct KindRows {
  const ElementKind* kind;
  std::int64_t n = 0;
};

}  // namespace

MeshTables read_gmsh(mpi::Context& context, const std::string& path) {
  GmshIndex index;
  agree_after(context, [&] {
    if (context.is_root()) index = index_gmsh(path, context.size());
  });
  index.share(context);
  const GmshShares shares = index.shares_of(context);
  if (index.is_old) return read_old_gmsh(context, path, index, shares);

  MeshTables tables;
  std::vector<TaggedVertex> vertices;
  struct Element {
    std::int64_t row;  // among those of its kind
    std::array<std::int64_t, 8> nodes;
  };
  std::map<int, std::vector<Element>> elements;  // this rank's, by Gmsh type
  // Rows of a kind run through the file's blocks of that kind in their order.
  std::map<int, KindRows> kinds;
  std::vector<std::int64_t> first_of_block;
  agree_after(context, [&] {
    for (const GmshIndex::Block& block : index.elements) {
      const ElementKind* kind = kind_of(block.type);
      if (kind == nullptr && block.type != gmsh_point) {
        throw Error(ErrorCode::bad_input,
                    {.subject = path,
                     .cause = fmt::format("has elements of Gmsh type {}, which is not supported", block.type),
                     .remedy = "save a first-order mesh of lines, triangles, quads, tets, hexes, prisms, pyramids"});
      }
      KindRows& rows = kinds[block.type];
      rows.kind = kind;
      first_of_block.push_back(rows.n);
      rows.n += block.n;
    }
    read_gmsh_nodes(path, index, shares,
                    [&](std::int64_t tag, const std::array<double, 3>& x) { vertices.push_back({tag, x}); });
    read_gmsh_elements(path, index, shares,
                       [&](std::size_t block, std::int64_t row, std::span<const std::int64_t> nodes) {
                         Element element{first_of_block[block] + row, {}};
                         std::copy(nodes.begin(), nodes.end(), element.nodes.begin());
                         elements[index.elements[block].type].push_back(element);
                       });
  });
  std::int64_t max_tag = index.max_node_tag;
  for (const TaggedVertex& v : vertices) max_tag = std::max(max_tag, v.tag);
  const VertexRows rows(context, path, std::move(vertices), mpi::max(context, max_tag), tables);

  // Blocks in ascending dimension and type, as .h5m files have them.
  std::map<int, std::size_t> block_of_type;
  std::vector<std::pair<CellType, int>> order;
  for (const auto& [gmsh_type, kind] : kinds)
    if (kind.kind != nullptr && kind.n > 0) order.emplace_back(kind.kind->type, gmsh_type);
  std::sort(order.begin(), order.end());
  for (const auto& [type, gmsh_type] : order) {
    const KindRows& kind = kinds[gmsh_type];
    CellBlock block;
    block.type = type;
    block.nodes_per_cell = kind.kind->n_nodes;
    block.rows = {kind.n, context.size()};
    std::vector<Rank> to;
    for (const Element& element : elements[gmsh_type]) to.push_back(block.rows.rank_of(element.row));
    auto arrived = exchange::route(context, exchange::pack_by_rank<Element>(to, elements[gmsh_type])).items;
    std::sort(arrived.begin(), arrived.end(), [](const Element& a, const Element& b) { return a.row < b.row; });
    for (const Element& element : arrived)
      for (int n = 0; n < block.nodes_per_cell; ++n)
        block.nodes.push_back(GlobalId{element.nodes[static_cast<std::size_t>(n)]});
    rows.translate(path, block.nodes);
    block_of_type[gmsh_type] = tables.blocks.size();
    tables.blocks.push_back(std::move(block));
  }
  if (tables.top_dim() == Dim::vertex)
    throw AgreedError(ErrorCode::bad_input, {.subject = path, .cause = "has no elements but points"});

  // Physical groups become sets: of the top dimension materials, below it boundaries.
  std::map<std::pair<int, int>, std::int32_t> set_of;
  for (std::size_t b = 0; b < index.elements.size(); ++b) {
    const GmshIndex::Block& block = index.elements[b];
    if (block_of_type.count(block.type) == 0) continue;
    for (const int group : index.groups_of(block.entity_dim, block.entity_tag)) {
      const auto [at, is_new] =
          set_of.try_emplace({block.entity_dim, group}, static_cast<std::int32_t>(tables.sets.size()));
      if (is_new) {
        tables.sets.push_back(
            {.kind = block.entity_dim == value(tables.top_dim()) ? SetKind::material : SetKind::neumann,
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
