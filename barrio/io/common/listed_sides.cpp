#include "barrio/io/common/listed_sides.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "barrio/base/hash.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellBlock;
using mesh::CellType;
using mesh::Dim;
using mesh::MeshTables;

/// Corners in ascending order: equal for equal sides.
using SideNodes = std::array<GlobalId, 4>;

SideNodes key_of(std::span<const GlobalId> corners) {
  SideNodes key;
  key.fill(GlobalId{-1});
  std::ranges::copy(corners, key.begin());
  std::ranges::sort(key);
  return key;
}

std::size_t n_corners(CellType type) { return mesh::topology(type).n_corners; }

/// A side on its way to the rank that compares it with others, or a cell that may equal one.
struct Candidate {
  SideNodes key;
  std::int64_t place;  ///< position of a side; of a cell its row minus the number of rows, so that cells sort first
  std::int32_t set;    ///< -1: a cell
  Dim dim;
};

/// A member of a set: the first of equal sides.
struct Member {
  std::int64_t place;  ///< as in Candidate
  std::int32_t set;
  Dim dim;
  auto operator<=>(const Member&) const = default;
};

std::vector<Candidate> candidates_of(mpi::Context& context, const MeshTables& tables,
                                     const std::vector<ListedSide>& sides) {
  std::vector<Candidate> all;
  std::array<std::int32_t, 4> has_dim{};
  for (const ListedSide& side : sides) {
    const Dim dim = mesh::topology(side.type).dim;
    has_dim[index(dim)] = 1;
    all.push_back({key_of(std::span(side.nodes).first(n_corners(side.type))), side.position, side.set, dim});
  }
  mpi::all_reduce(context, std::span<std::int32_t>(has_dim), MPI_MAX);
  for (std::size_t b = 0; b < tables.blocks.size(); ++b) {
    const CellBlock& block = tables.blocks[b];
    const Dim dim = mesh::topology(block.type).dim;
    if (has_dim[index(dim)] == 0 || n_corners(block.type) == 0) continue;
    const std::int64_t first = tables.first_row(b) + block.rows.first(context.rank()) - tables.n_global(dim);
    const std::int64_t n = block.rows.size(context.rank());
    for (std::int64_t i = 0; i < n; ++i)
      all.push_back({key_of(block.cell(i).first(n_corners(block.type))), first + i, -1, dim});
  }
  return all;
}

/// Bring equal sides together, choose the first of them, and send members to the rank that holds it.
std::vector<Member> compare(mpi::Context& context, const MeshTables& tables, const std::vector<Candidate>& mine,
                            const Slabs& positions) {
  std::vector<Rank> to;
  to.reserve(mine.size());
  for (const Candidate& candidate : mine) {
    Hash64 hash;
    for (const GlobalId corner : candidate.key) hash.add(value(corner));
    to.push_back(static_cast<Rank>(hash.value() % context.size()));
  }
  auto met = exchange::route(context, exchange::pack_by_rank<Candidate>(to, mine)).items;
  std::ranges::sort(met, {}, [](const Candidate& c) { return std::tuple(c.key, c.place); });
  std::vector<Member> members;
  for (std::size_t i = 0, first = 0; i < met.size(); ++i) {
    if (met[i].key != met[first].key) first = i;
    if (met[i].set >= 0) members.push_back({met[first].place, met[i].set, met[i].dim});
  }
  to.clear();
  for (const Member& member : members)
    to.push_back(member.place >= 0 ? positions.rank_of(member.place)
                                   : tables.home(member.dim, member.place + tables.n_global(member.dim)));
  auto at_home = exchange::route(context, exchange::pack_by_rank<Member>(to, members)).items;
  sort_unique(at_home);
  return at_home;
}

/// Sides of one type and number of nodes.
using Shape = std::pair<CellType, int>;
constexpr std::array<Shape, 8> shapes{{{CellType::edge, 2},
                                       {CellType::edge, 3},
                                       {CellType::triangle, 3},
                                       {CellType::triangle, 6},
                                       {CellType::triangle, 7},
                                       {CellType::quad, 4},
                                       {CellType::quad, 8},
                                       {CellType::quad, 9}}};

/// Insert a block after those of its dimension. Collective.
std::size_t add_block(mpi::Context& context, MeshTables& tables, Shape shape, std::int64_t first, std::int64_t n_global,
                      const std::vector<GlobalId>& nodes) {
  CellBlock block{shape.first, {n_global, context.size()}, shape.second, {}, {}};
  const std::size_t n_nodes = shape.second;
  std::vector<Rank> to;
  for (std::size_t i = 0; i < nodes.size(); ++i) to.push_back(block.rows.rank_of(first + (i / n_nodes)));
  block.nodes =
      exchange::route(context, exchange::pack_by_rank<GlobalId>(to, nodes)).items;  // senders ascend with rows
  const Dim dim = mesh::topology(shape.first).dim;
  const auto behind = std::ranges::find_if(
      tables.blocks, [dim](const CellBlock& other) { return mesh::topology(other.type).dim > dim; });
  const auto place = behind - tables.blocks.begin();
  tables.blocks.insert(behind, std::move(block));
  for (mesh::TagTable& tag : tables.tags)
    for (mesh::TagColumn& column : tag.columns) column.block += column.block >= place ? 1 : 0;
  return place;
}

}  // namespace

int n_sides(CellType type) noexcept {
  return static_cast<int>(std::ranges::count(mesh::topology(type).sides, std::int8_t{-1}));
}

SidePlaces side_places(CellType type, int n_nodes, int side) {
  const mesh::CellTopology& topology = mesh::topology(type);
  SidePlaces found;
  int at = 0;
  for (const std::int8_t place : topology.sides) {
    if (place >= 0 && at == side) found.places.push_back(place);
    if (place < 0) ++at;
  }
  const std::vector<std::int8_t> corners = found.places;
  const std::size_t n = corners.size();
  found.type = n == 2 ? CellType::edge : (n == 3 ? CellType::triangle : CellType::quad);
  const auto n_edges = static_cast<int>(topology.edges.size() / 2);
  if (n_nodes < topology.n_corners + n_edges) return found;
  for (std::size_t c = 0; c < (n == 2 ? 1 : n); ++c) {
    const std::array<std::int8_t, 2> ends{corners[c], corners[(c + 1) % n]};
    for (int e = 0; e < n_edges; ++e)
      if (std::ranges::is_permutation(ends, topology.edges.subspan(std::size_t{2} * e, 2)))
        found.places.push_back(static_cast<std::int8_t>(topology.n_corners + e));
  }
  // Mid-face nodes follow the mid-edge nodes: one for each face, or one for each quadrilateral.
  const int n_amid = n_nodes - topology.n_corners - n_edges;
  if (topology.dim != Dim::volume || n_amid == 0) return found;
  const bool has_all = n_amid >= n_sides(type);
  if (!has_all && n < 4) return found;
  int face = side;
  for (int other = 0; !has_all && other < side; ++other)
    if (side_places(type, topology.n_corners, other).places.size() < 4) --face;
  found.places.push_back(static_cast<std::int8_t>(topology.n_corners + n_edges + face));
  return found;
}

std::int32_t add_set(MeshTables& tables, mesh::SetInfo info) {
  const auto place = static_cast<std::int32_t>(tables.sets.size());
  tables.sets.push_back(std::move(info));
  return place;
}

void add_members(MeshTables& tables, std::int32_t set, Dim dim, std::vector<std::int64_t> rows) {
  sort_unique(rows);
  for (std::size_t i = 0; i < rows.size();) {
    std::size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    tables.members.push_back({set, dim, rows[i], static_cast<std::int64_t>(end - i)});
    i = end;
  }
}

void list_sides(mpi::Context& context, MeshTables& tables, const std::vector<ListedSide>& mine,
                const Slabs& positions) {
  const std::vector<Member> members = compare(context, tables, candidates_of(context, tables, mine), positions);
  // The sides to list, by ascending position, as members are sorted.
  struct Listed {
    std::int64_t position;
    std::size_t shape;
    std::int64_t row;  // among this rank's of its shape
  };
  std::vector<Listed> listed;
  std::array<std::vector<GlobalId>, shapes.size()> nodes;
  std::array<std::int64_t, shapes.size()> n_mine{};
  for (const Member& member : members) {
    if (member.place < 0 || (!listed.empty() && listed.back().position == member.place)) continue;
    const ListedSide& side = *std::ranges::lower_bound(mine, member.place, {}, &ListedSide::position);
    const std::size_t shape = std::ranges::find(shapes, Shape{side.type, side.n_nodes}) - shapes.begin();
    listed.push_back({side.position, shape, n_mine[shape]++});
    nodes[shape].insert(nodes[shape].end(), side.nodes.begin(), side.nodes.begin() + side.n_nodes);
  }
  std::array<std::int64_t, shapes.size()> first = n_mine;
  std::array<std::int64_t, shapes.size()> n_global = n_mine;
  mpi::exclusive_sum(context, std::span<std::int64_t>(first));
  mpi::all_reduce(context, std::span<std::int64_t>(n_global), MPI_SUM);
  const std::array<std::int64_t, 4> n_cells{0, tables.n_global(Dim::edge), tables.n_global(Dim::face), 0};
  for (std::size_t s = 0; s < shapes.size(); ++s) {
    if (n_global[s] == 0) continue;
    const std::size_t block = add_block(context, tables, shapes[s], first[s], n_global[s], nodes[s]);
    first[s] += tables.first_row(block);
  }
  std::map<std::pair<std::int32_t, Dim>, std::vector<std::int64_t>> rows_of_set;
  auto at = listed.begin();
  for (const Member& member : members) {
    std::vector<std::int64_t>& rows = rows_of_set[{member.set, member.dim}];
    if (member.place < 0) {
      rows.push_back(member.place + n_cells[index(member.dim)]);
      continue;
    }
    while (at->position < member.place) ++at;
    rows.push_back(first[at->shape] + at->row);
  }
  std::int64_t n_twice = std::ssize(mine);
  for (auto& [set, rows] : rows_of_set) {
    sort_unique(rows);
    n_twice -= std::ssize(rows);
    add_members(tables, set.first, set.second, std::move(rows));
  }
  n_twice = mpi::sum(context, n_twice);
  if (n_twice > 0)
    context.log().notice(fmt::format(
        "{} side(s) are in a set more than once, as from both of their cells: sets have each face once", n_twice));
}

}  // namespace barrio::io::detail
