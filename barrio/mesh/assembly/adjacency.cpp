#include "barrio/mesh/adjacency.hpp"

#include <algorithm>

#include "barrio/base/memory.hpp"

namespace barrio::mesh {
namespace {

/// Count how many of some cells have each side, up to 2.
std::vector<std::uint8_t> count_cells(const Sides& sides, const Range& cells) {
  std::vector<std::uint8_t> n(sides.table().size(), 0);
  for (const LocalId cell : cells)
    for (const LocalId side : sides.of_cell(index(cell)))
      if (n[index(side)] < 2) ++n[index(side)];
  return n;
}

Range where_one(std::span<const std::uint8_t> n) {
  Range found;
  for (std::size_t side = 0; side < n.size(); ++side)
    if (n[side] == 1) found.insert(local_id(side));
  return found;
}

}  // namespace

std::uint64_t Adjacency::memory_bytes() const noexcept { return lists_.memory_bytes(); }

Adjacency around_vertices(const Mesh& mesh, Dim dim) {
  const EntityTable& table = mesh.entities(dim);
  return Adjacency::inverse(table.size(), mesh.n_local(Dim::vertex), [&](std::size_t i, auto&& visit) {
    const auto nodes = table.nodes_of(i);
    for (std::size_t n = 0; n < nodes.size(); ++n)
      if (std::find(nodes.begin(), nodes.begin() + n, nodes[n]) == nodes.begin() + n)
        visit(nodes[n]);  // a padded polygon repeats a vertex
  });
}

Adjacency cells_of_sides(const Mesh& mesh, const Sides& sides) {
  return Adjacency::inverse(mesh.cells().size(), sides.table().size(), [&](std::size_t cell, auto&& visit) {
    for (const LocalId side : sides.of_cell(cell)) visit(side);
  });
}

Range local_skin(const Sides& sides, const Range& cells) { return where_one(count_cells(sides, cells)); }

Range skin(const Mesh& mesh, const Sides& sides, const Range& cells) {
  const Range own = cells.intersected({LocalId{0}, local_id(mesh.cells().n_owned)});
  const std::vector<std::uint8_t> here = count_cells(sides, own);
  std::vector<std::uint8_t> n = here;
  exchange::HaloExchange<std::uint8_t> halo(mesh.context(), sides.halo_plan(), n, 1);
  halo.reduce([](std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(std::min(a + b, 2)); });
  halo.exchange();
  for (std::size_t side = 0; side < n.size(); ++side)
    if (here[side] == 0) n[side] = 0;
  return where_one(n);
}

}  // namespace barrio::mesh
