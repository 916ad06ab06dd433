#include "barrio/mesh/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/base/error.hpp"

namespace barrio::mesh {
namespace {

// The six ways from corner 0 to corner 6 of a hex along its edges, one axis at a time; odd ones are turned so that
// all volumes are positive.
constexpr std::array<std::array<int, 4>, 6> kuhn_tets{
    {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}}};

struct Grid {
  std::array<std::int64_t, 3> n;

  [[nodiscard]] GlobalId vertex(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return GlobalId{(k * (n[1] + 1) + j) * (n[0] + 1) + i};
  }
  [[nodiscard]] std::array<GlobalId, 8> hex(std::int64_t row) const {
    const std::int64_t i = row % n[0];
    const std::int64_t j = row / n[0] % n[1];
    const std::int64_t k = row / n[0] / n[1];
    return {vertex(i, j, k),     vertex(i + 1, j, k),     vertex(i + 1, j + 1, k),     vertex(i, j + 1, k),
            vertex(i, j, k + 1), vertex(i + 1, j, k + 1), vertex(i + 1, j + 1, k + 1), vertex(i, j + 1, k + 1)};
  }
  /// Faces of one side of the box.
  [[nodiscard]] std::int64_t n_faces(std::size_t axis) const { return n[(axis + 1) % 3] * n[(axis + 2) % 3]; }
  /// Corners of a boundary face, seen from outside counter-clockwise. @param side  0..5 = x-, x+, y-, ...
  [[nodiscard]] std::array<GlobalId, 4> face(std::size_t side, std::int64_t row) const {
    const std::size_t axis = side / 2;
    const std::size_t u = (axis + 1) % 3;
    const std::size_t v = (axis + 2) % 3;
    std::array<std::int64_t, 3> at{};
    at[axis] = side % 2 == 0 ? 0 : n[axis];
    const auto corner = [&](std::int64_t a, std::int64_t b) {
      std::array<std::int64_t, 3> c = at;
      c[u] = row % n[u] + a;
      c[v] = row / n[u] + b;
      return vertex(c[0], c[1], c[2]);
    };
    if (side % 2 == 1) return {corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
    return {corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)};
  }
};

}  // namespace

MeshTables make_box(mpi::Context& context, const BoxOptions& options) {
  const auto& n = options.n;
  if (n[0] < 1 || n[1] < 1 || n[2] < 1) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("box of {} x {} x {} cells", n[0], n[1], n[2]),
                                         .cause = "needs at least one cell along each axis"});
  }
  // In floating point: the product may pass 2^63.
  if (static_cast<double>(n[0] + 1) * static_cast<double>(n[1] + 1) * static_cast<double>(n[2] + 1) > 1e17) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("box of {} x {} x {} cells", n[0], n[1], n[2]),
                                         .cause = "has more vertices than can be numbered"});
  }
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(std::isfinite(options.low[axis]) && std::isfinite(options.high[axis]) &&
          options.low[axis] < options.high[axis])) {
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("box from {} to {} along axis {}", options.low[axis],
                                                                  options.high[axis], axis),
                                           .cause = "needs finite corners, the lower one below the upper one"});
    }
  }
  const Grid grid{n};
  const Rank me = context.rank();
  MeshTables tables;
  tables.vertices = {(n[0] + 1) * (n[1] + 1) * (n[2] + 1), context.size()};
  if (tables.vertices.n_rows / context.size() > INT32_MAX) {
    throw AgreedError(ErrorCode::usage, {.subject = fmt::format("box of {} x {} x {} cells", n[0], n[1], n[2]),
                                         .cause = "has more than 2^31 vertices per rank",
                                         .remedy = "use more ranks"});
  }
  for (std::int64_t row = tables.vertices.first(me); row < tables.vertices.first(me + 1); ++row) {
    const std::array<std::int64_t, 3> at{row % (n[0] + 1), row / (n[0] + 1) % (n[1] + 1),
                                         row / (n[0] + 1) / (n[1] + 1)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double t = static_cast<double>(at[axis]) / static_cast<double>(n[axis]);
      tables.coordinates.push_back(options.low[axis] * (1.0 - t) + options.high[axis] * t);
    }
  }

  CellBlock cells;
  const std::int64_t n_hexes = n[0] * n[1] * n[2];
  cells.type = options.tets ? CellType::tet : CellType::hex;
  cells.nodes_per_cell = options.tets ? 4 : 8;
  cells.rows = {options.tets ? 6 * n_hexes : n_hexes, context.size()};
  for (std::int64_t row = cells.rows.first(me); row < cells.rows.first(me + 1); ++row) {
    if (options.tets) {
      const auto hex = grid.hex(row / 6);
      for (const int corner : kuhn_tets[static_cast<std::size_t>(row % 6)])
        cells.nodes.push_back(hex[static_cast<std::size_t>(corner)]);
    } else {
      const auto hex = grid.hex(row);
      cells.nodes.insert(cells.nodes.end(), hex.begin(), hex.end());
    }
  }

  CellBlock faces;
  faces.type = options.tets ? CellType::triangle : CellType::quad;
  faces.nodes_per_cell = options.tets ? 3 : 4;
  const std::int64_t per_face = options.tets ? 2 : 1;
  std::array<std::int64_t, 7> first{};
  for (std::size_t side = 0; side < 6; ++side) first[side + 1] = first[side] + per_face * grid.n_faces(side / 2);
  faces.rows = {first[6], context.size()};
  std::size_t side = 0;
  for (std::int64_t row = faces.rows.first(me); row < faces.rows.first(me + 1); ++row) {
    while (row >= first[side + 1]) ++side;
    const auto quad = grid.face(side, (row - first[side]) / per_face);
    if (!options.tets) {
      faces.nodes.insert(faces.nodes.end(), quad.begin(), quad.end());
      continue;
    }
    // Kuhn's tets cut every face along the diagonal through its lowest vertex.
    const std::size_t low = static_cast<std::size_t>(std::min_element(quad.begin(), quad.end()) - quad.begin());
    const std::size_t half = (row - first[side]) % 2 == 0 ? 1 : 2;
    for (const std::size_t corner : {low, low + half, low + half + 1}) faces.nodes.push_back(quad[corner % 4]);
  }

  static constexpr std::array<const char*, 6> side_names{"x-", "x+", "y-", "y+", "z-", "z+"};
  tables.sets.push_back({.kind = SetKind::material, .id = 1, .name = "box"});
  if (context.is_root()) tables.members.push_back({0, Dim::volume, 0, cells.rows.n_rows});
  for (std::size_t s = 0; s < 6; ++s) {
    tables.sets.push_back({.kind = SetKind::neumann, .id = static_cast<std::int32_t>(s + 1), .name = side_names[s]});
    if (context.is_root())
      tables.members.push_back({static_cast<std::int32_t>(s + 1), Dim::face, first[s], first[s + 1] - first[s]});
  }
  tables.blocks = {std::move(cells), std::move(faces)};
  return tables;
}

}  // namespace barrio::mesh
