#include "tests/mesh/polyhedra.hpp"

#include <array>
#include <map>

namespace barrio::test {

using mesh::CellBlock;
using mesh::CellType;
using mesh::MeshTables;

MeshTables as_polyhedra(MeshTables tables) {
  static const std::map<CellType, std::vector<std::vector<std::size_t>>> faces{
      {CellType::tet, {{0, 1, 3}, {1, 2, 3}, {0, 3, 2}, {0, 2, 1}}},
      {CellType::hex, {{0, 1, 5, 4}, {1, 2, 6, 5}, {2, 3, 7, 6}, {3, 0, 4, 7}, {0, 3, 2, 1}, {4, 5, 6, 7}}}};
  for (CellBlock& block : tables.blocks) {
    if (faces.count(block.type) == 0) continue;
    const auto n = static_cast<std::size_t>(block.nodes_per_cell);
    std::vector<GlobalId> nodes;
    block.offsets.assign(1, 0);
    for (std::size_t first = 0; first < block.nodes.size(); first += n) {
      for (const auto& face : faces.at(block.type)) {
        for (const std::size_t corner : face) nodes.push_back(block.nodes[first + corner]);
        nodes.push_back(block.nodes[first + face[0]]);
      }
      block.offsets.push_back(nodes.size());
    }
    block.type = CellType::polyhedron;
    block.nodes_per_cell = 0;
    block.nodes = nodes;
  }
  return tables;
}

MeshTables honeycomb(mpi::Context& context, std::int64_t n_x, std::int64_t n_y, std::int64_t n_z) {
  const std::int64_t width = 2 * n_x + 2;
  MeshTables tables;
  tables.vertices = {width * (n_y + 1) * (n_z + 1), context.size()};
  for (std::int64_t v = tables.vertices.first(context.rank()); v < tables.vertices.first(context.rank() + 1); ++v) {
    const std::int64_t i = v % width;
    const std::int64_t j = v / width % (n_y + 1);
    // Ends of bricks above the middle of others alternately move down and up, which gives hexagons.
    const double y = static_cast<double>(j) + ((i + j) % 2 == 0 ? -0.2 : 0.2);
    tables.coordinates.insert(tables.coordinates.end(),
                              {static_cast<double>(i), y, static_cast<double>(v / (width * (n_y + 1)))});
  }
  CellBlock cells{CellType::polyhedron, {n_x * n_y * n_z, context.size()}, 0, {0}, {}};
  for (std::int64_t row = cells.rows.first(context.rank()); row < cells.rows.first(context.rank() + 1); ++row) {
    const std::int64_t y = row / n_x % n_y;
    const std::int64_t x = 2 * (row % n_x) + y % 2;
    const auto vertex = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
      return GlobalId{((row / (n_x * n_y) + k) * (n_y + 1) + y + j) * width + x + i};
    };
    static constexpr std::array<std::array<std::int64_t, 2>, 6> round{{{0, 0}, {1, 0}, {2, 0}, {2, 1}, {1, 1}, {0, 1}}};
    for (const std::int64_t k : {0, 1}) {
      for (const auto& [i, j] : round) cells.nodes.push_back(vertex(i, j, k));
      cells.nodes.push_back(vertex(0, 0, k));
    }
    for (std::size_t c = 0; c < round.size(); ++c) {
      const auto& [i, j] = round[c];
      const auto& [to_i, to_j] = round[(c + 1) % round.size()];
      for (const GlobalId corner :
           {vertex(i, j, 0), vertex(to_i, to_j, 0), vertex(to_i, to_j, 1), vertex(i, j, 1), vertex(i, j, 0)})
        cells.nodes.push_back(corner);
    }
    cells.offsets.push_back(cells.nodes.size());
  }
  tables.blocks.push_back(std::move(cells));
  return tables;
}

std::vector<std::vector<std::int64_t>> faces_of_loops(const std::vector<std::int64_t>& nodes) {
  std::vector<std::vector<std::int64_t>> faces(1);
  for (const std::int64_t node : nodes) {
    if (!faces.back().empty() && node == faces.back().front()) {
      faces.emplace_back();
    } else {
      faces.back().push_back(node);
    }
  }
  faces.pop_back();
  return faces;
}

}  // namespace barrio::test
