#include "barrio/mesh/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "barrio/base/error.hpp"
#include "barrio/mesh/structured/grid_numbers.hpp"

namespace barrio::mesh {
namespace {

// The six paths from corner 0 to corner 6 of a hex along its edges, one axis at a time. The odd ones are reordered to
// give all tets a positive volume.
constexpr std::array<std::array<int, 4>, 6> kuhn_tets{
    {{0, 1, 2, 6}, {0, 2, 3, 6}, {0, 3, 7, 6}, {0, 7, 4, 6}, {0, 4, 5, 6}, {0, 5, 1, 6}}};

using GridPoint = std::array<std::int64_t, 3>;

/// A piece of the grid: cells low .. high - 1 along each axis. A piece that is flat along some axes consists of faces
/// or edges, or is a vertex.
struct Piece {
  GridPoint low;
  GridPoint high;

  /// Count the grid entities in it; a flat axis has one.
  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (std::size_t a = 0; a < 3; ++a) n *= std::max<std::int64_t>(high[a] - low[a], 1);
    return n;
  }
  /// Return the grid point of an entity. Entities are numbered along the lowest axis first.
  [[nodiscard]] GridPoint at(std::int64_t i) const {
    GridPoint place = low;
    for (std::size_t a = 0; a < 3; ++a) {
      const std::int64_t n = std::max<std::int64_t>(high[a] - low[a], 1);
      place[a] += i % n;
      i /= n;
    }
    return place;
  }
  [[nodiscard]] int dim() const {
    int d = 0;
    for (std::size_t a = 0; a < 3; ++a) d += high[a] > low[a] ? 1 : 0;
    return d;
  }
};

/// The pieces of one dimension in sequence, with the first row of each.
struct Pieces {
  std::vector<Piece> list;
  std::vector<std::int64_t> first{0};

  void add(const Piece& piece) {
    list.push_back(piece);
    first.push_back(first.back() + piece.size());
  }
  /// Call `visit(piece, grid point)` for entities from .. to - 1.
  template <class Visit>
  void for_each(std::int64_t from, std::int64_t to, Visit&& visit) const {
    if (from >= to) return;
    std::size_t piece = std::ranges::upper_bound(first, from) - first.begin() - 1;
    for (std::int64_t i = from; i < to; ++i) {
      while (i >= first[piece + 1]) ++piece;
      visit(list[piece], list[piece].at(i - first[piece]));
    }
  }
};

struct Grid {
  GridPoint n;

  [[nodiscard]] GlobalId vertex(std::int64_t i, std::int64_t j, std::int64_t k) const {
    return GlobalId{(k * (n[1] + 1) + j) * (n[0] + 1) + i};
  }
  [[nodiscard]] GlobalId vertex(const GridPoint& p) const { return vertex(p[0], p[1], p[2]); }
  [[nodiscard]] std::array<GlobalId, 8> hex(const GridPoint& p) const {
    const auto [i, j, k] = p;
    return {vertex(i, j, k),     vertex(i + 1, j, k),     vertex(i + 1, j + 1, k),     vertex(i, j + 1, k),
            vertex(i, j, k + 1), vertex(i + 1, j, k + 1), vertex(i + 1, j + 1, k + 1), vertex(i, j + 1, k + 1)};
  }
  /// Return the corners of a face across an axis: counter-clockwise seen from its high side or, on the low boundary,
  /// from outside.
  [[nodiscard]] std::array<GlobalId, 4> face(std::size_t axis, const GridPoint& p) const {
    const std::size_t u = (axis + 1) % 3;
    const std::size_t v = (axis + 2) % 3;
    const auto corner = [&](std::int64_t a, std::int64_t b) {
      GridPoint c = p;
      c[u] += a;
      c[v] += b;
      return vertex(c);
    };
    if (p[axis] > 0) return {corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)};
    return {corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)};
  }
};

/// Compute the first cell of a piece when n cells are divided as evenly as possible.
std::int64_t cut(std::int64_t n, std::int64_t piece, std::int64_t n_pieces) { return n * piece / n_pieces; }

/// The volumes, surfaces, curves and points of the model. Those of one dimension are ordered by axis, lower axes first.
class Model {
 public:
  explicit Model(const BoxOptions& options) : options_(options) {
    for_all({true, true, true}, of_dim[3]);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::array<bool, 3> spans{true, true, true};
      spans[axis] = false;
      for_all(spans, of_dim[2]);
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      std::array<bool, 3> spans{false, false, false};
      spans[axis] = true;
      for_all(spans, of_dim[1]);
    }
    for_all({false, false, false}, of_dim[0]);
  }
  std::array<Pieces, 4> of_dim;

 private:
  /// Add the pieces that span cells along some axes and lie between volumes, or on the boundary, along the others.
  /// The flat axis of a surface is the slowest, so that a side of the box is one run.
  void for_all(const std::array<bool, 3>& spans, Pieces& out) const {
    std::array<std::size_t, 3> axes{2, 1, 0};  // slowest first
    std::ranges::stable_partition(axes, [&](std::size_t a) { return !spans[a]; });
    GridPoint n{};
    for (std::size_t a = 0; a < 3; ++a) n[a] = options_.volumes[a] + (spans[a] ? 0 : 1);
    for (std::int64_t i = 0; i < n[axes[0]]; ++i) {
      for (std::int64_t j = 0; j < n[axes[1]]; ++j) {
        for (std::int64_t k = 0; k < n[axes[2]]; ++k) {
          GridPoint at{};
          at[axes[0]] = i;
          at[axes[1]] = j;
          at[axes[2]] = k;
          Piece piece{};
          for (std::size_t a = 0; a < 3; ++a) {
            piece.low[a] = cut(options_.n[a], at[a], options_.volumes[a]);
            piece.high[a] = spans[a] ? cut(options_.n[a], at[a] + 1, options_.volumes[a]) : piece.low[a];
          }
          out.add(piece);
        }
      }
    }
  }
  const BoxOptions& options_;
};

void check(const BoxOptions& options, int n_ranks) {
  const auto& n = options.n;
  const std::string box = fmt::format("box of {} x {} x {} cells", n[0], n[1], n[2]);
  if (n[0] < 1 || n[1] < 1 || n[2] < 1)
    refuse_together(ErrorCode::usage, box, "needs at least one cell along each axis");
  // In floating point: the product may exceed 2^63.
  const double n_vertices = detail::product_of({n[0] + 1, n[1] + 1, n[2] + 1});
  if (n_vertices > 1e17) refuse_together(ErrorCode::usage, box, "has more vertices than can be numbered");
  if (n_vertices / n_ranks > INT32_MAX)
    refuse_together(ErrorCode::usage, box, "has more than 2^31 vertices per rank", "use more ranks");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (!(std::isfinite(options.low[axis]) && std::isfinite(options.high[axis]) &&
          options.low[axis] < options.high[axis])) {
      refuse_together(ErrorCode::usage,
                      fmt::format("box from {} to {} along axis {}", options.low[axis], options.high[axis], axis),
                      "needs finite corners, the lower one below the upper one");
    }
    for (const int pieces : {options.volumes[axis], options.parts[axis]}) {
      if (pieces > n[axis])
        refuse_together(ErrorCode::usage, fmt::format("{} pieces along axis {}", pieces, axis),
                        fmt::format("must not exceed the {} cells there", n[axis]), "ask for fewer volumes or parts");
    }
    if (options.volumes[axis] < 1)
      refuse_together(ErrorCode::usage, fmt::format("{} volumes along axis {}", options.volumes[axis], axis),
                      "must be at least 1", "ask for 1 or more");
  }
  const bool has_parts = options.parts != std::array<int, 3>{0, 0, 0};
  if (has_parts && std::ranges::min(options.parts) < 1)
    refuse_together(ErrorCode::usage,
                    fmt::format("{} x {} x {} parts", options.parts[0], options.parts[1], options.parts[2]),
                    "must be at least 1 along each axis", "ask for 1 or more along each");
  const auto& parts = options.parts;
  if (detail::product_of({parts[0], parts[1], parts[2]}) > INT32_MAX)
    refuse_together(ErrorCode::usage, fmt::format("{} x {} x {} parts", parts[0], parts[1], parts[2]),
                    "must not exceed 2^31 - 1 in total", "ask for fewer");
  // Every rank holds the list of pieces.
  constexpr double max_volumes = 1e6;
  const auto& v = options.volumes;
  if (detail::product_of({v[0], v[1], v[2]}) > max_volumes)
    refuse_together(ErrorCode::usage, fmt::format("{} x {} x {} volumes", v[0], v[1], v[2]), "must not exceed 1e6",
                    "ask for fewer");
}

/// Compute the part of a hex from its grid point.
std::int32_t part_of(const BoxOptions& options, const GridPoint& p) {
  GridPoint at{};
  for (std::size_t a = 0; a < 3; ++a) {
    at[a] = p[a] * options.parts[a] / options.n[a];
    while (p[a] >= cut(options.n[a], at[a] + 1, options.parts[a])) ++at[a];
  }
  return static_cast<std::int32_t>((at[2] * options.parts[1] + at[1]) * options.parts[0] + at[0]);
}

void add_vertices(const BoxOptions& options, Rank me, MeshTables& tables) {
  const auto& n = options.n;
  tables.coordinates.reserve(3 * tables.vertices.size(me));
  for (std::int64_t row = tables.vertices.first(me); row < tables.vertices.first(me + 1); ++row) {
    const GridPoint at{row % (n[0] + 1), row / (n[0] + 1) % (n[1] + 1), row / (n[0] + 1) / (n[1] + 1)};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double t = detail::ratio_of(at[axis], n[axis]);
      tables.coordinates.push_back(options.low[axis] * (1.0 - t) + options.high[axis] * t);
    }
  }
}

/// Call `visit(row, piece, grid point)` for this rank's rows of a block with `per_piece` cells per grid entity.
template <class Visit>
void for_each_row(const CellBlock& block, const Pieces& pieces, std::int64_t per_piece, Rank me, Visit&& visit) {
  const std::int64_t first = block.rows.first(me);
  const std::int64_t end = block.rows.first(me + 1);
  if (first == end) return;
  std::int64_t row = first;
  pieces.for_each(first / per_piece, (end - 1) / per_piece + 1, [&](const Piece& piece, const GridPoint& at) {
    const std::int64_t last = std::min(end, (row / per_piece + 1) * per_piece);
    for (; row < last; ++row) visit(row, piece, at);
  });
}

CellBlock make_cells(const BoxOptions& options, const Grid& grid, const Pieces& volumes, Rank me, int n_ranks,
                     std::vector<std::int32_t>& parts) {
  CellBlock cells;
  cells.type = options.tets ? CellType::tet : CellType::hex;
  cells.nodes_per_cell = options.tets ? 4 : 8;
  const std::int64_t per_hex = options.tets ? 6 : 1;
  cells.rows = {per_hex * volumes.first.back(), n_ranks};
  cells.nodes.reserve(cells.rows.size(me) * cells.nodes_per_cell);
  for_each_row(cells, volumes, per_hex, me, [&](std::int64_t row, const Piece&, const GridPoint& at) {
    const auto hex = grid.hex(at);
    if (options.tets) {
      for (const int corner : kuhn_tets[row % 6]) cells.nodes.push_back(hex[corner]);
    } else {
      cells.nodes.insert(cells.nodes.end(), hex.begin(), hex.end());
    }
    if (options.parts[0] > 0) parts.push_back(part_of(options, at));
  });
  return cells;
}

CellBlock make_faces(const BoxOptions& options, const Grid& grid, const Pieces& surfaces, Rank me, int n_ranks) {
  CellBlock faces;
  faces.type = options.tets ? CellType::triangle : CellType::quad;
  faces.nodes_per_cell = options.tets ? 3 : 4;
  const std::int64_t per_quad = options.tets ? 2 : 1;
  faces.rows = {per_quad * surfaces.first.back(), n_ranks};
  for_each_row(faces, surfaces, per_quad, me, [&](std::int64_t row, const Piece& piece, const GridPoint& at) {
    std::size_t axis = 0;
    while (piece.high[axis] > piece.low[axis]) ++axis;
    const auto quad = grid.face(axis, at);
    if (!options.tets) {
      faces.nodes.insert(faces.nodes.end(), quad.begin(), quad.end());
      return;
    }
    // The Kuhn tets divide every face along the diagonal through its lowest vertex.
    const std::size_t low = std::ranges::min_element(quad) - quad.begin();
    const std::size_t half = row % 2 == 0 ? 1 : 2;
    for (const std::size_t corner : {low, low + half, low + half + 1}) faces.nodes.push_back(quad[corner % 4]);
  });
  return faces;
}

CellBlock make_edges(const Grid& grid, const Pieces& curves, Rank me, int n_ranks) {
  CellBlock edges;
  edges.type = CellType::edge;
  edges.nodes_per_cell = 2;
  edges.rows = {curves.first.back(), n_ranks};
  for_each_row(edges, curves, 1, me, [&](std::int64_t, const Piece& piece, const GridPoint& at) {
    GridPoint end = at;
    for (std::size_t a = 0; a < 3; ++a)
      if (piece.high[a] > piece.low[a]) end[a] += 1;
    edges.nodes.push_back(grid.vertex(at));
    edges.nodes.push_back(grid.vertex(end));
  });
  return edges;
}

}  // namespace

MeshTables make_box(mpi::Context& context, const BoxOptions& options) {
  check(options, context.size());
  const auto& n = options.n;
  const Grid grid{n};
  const Model model(options);
  const bool has_geometry = model.of_dim[3].list.size() > 1;
  const Rank me = context.rank();
  MeshTables tables;
  tables.vertices = {(n[0] + 1) * (n[1] + 1) * (n[2] + 1), context.size()};
  add_vertices(options, me, tables);
  tables.blocks.push_back(make_cells(options, grid, model.of_dim[3], me, context.size(), tables.parts));
  tables.blocks.push_back(make_faces(options, grid, model.of_dim[2], me, context.size()));
  if (has_geometry) tables.blocks.push_back(make_edges(grid, model.of_dim[1], me, context.size()));
  tables.n_parts = options.parts[0] * options.parts[1] * options.parts[2];

  const auto add_set = [&](SetInfo info, Dim dim, std::int64_t first, std::int64_t end) {
    if (context.is_root())
      tables.members.push_back({static_cast<std::int32_t>(tables.sets.size()), dim, first, end - first});
    tables.sets.push_back(std::move(info));
  };
  const std::array<std::int64_t, 4> per_piece{1, 1, options.tets ? 2 : 1, options.tets ? 6 : 1};
  const Pieces& volumes = model.of_dim[3];
  for (std::int32_t v = 0; v < std::ssize(volumes.list); ++v) {
    const std::int32_t id = v + 1;
    add_set({.kind = SetKind::material, .id = id, .name = has_geometry ? fmt::format("volume {}", id) : "box"},
            Dim::volume, per_piece[3] * volumes.first[v], per_piece[3] * volumes.first[v + 1]);
  }
  static constexpr std::array<const char*, 6> side_names{"x-", "x+", "y-", "y+", "z-", "z+"};
  const Pieces& surfaces = model.of_dim[2];
  for (int side = 0; side < 6; ++side) {
    const std::size_t axis = side / 2;
    const std::int64_t plane = side % 2 == 0 ? 0 : n[axis];
    const auto is_on_side = [&](const Piece& piece) { return piece.low[axis] == plane && piece.high[axis] == plane; };
    const auto first = std::ranges::find_if(surfaces.list, is_on_side);
    const auto end = std::find_if_not(first, surfaces.list.end(), is_on_side);
    add_set({.kind = SetKind::neumann, .id = side + 1, .name = side_names[side]}, Dim::face,
            per_piece[2] * surfaces.first[first - surfaces.list.begin()],
            per_piece[2] * surfaces.first[end - surfaces.list.begin()]);
  }
  if (!has_geometry) return tables;
  static constexpr std::array<const char*, 4> geometry_names{"point", "curve", "surface", "volume"};
  for (int d = 0; d < 4; ++d) {
    const Pieces& pieces = model.of_dim[d];
    for (std::int32_t p = 0; p < std::ssize(pieces.list); ++p) {
      const std::int32_t id = p + 1;
      const std::int64_t vertex = value(grid.vertex(pieces.list[p].low));
      add_set({.kind = SetKind::geometry,
               .id = id,
               .name = fmt::format("{} {}", geometry_names[d], id),
               .geometry_dim = Dim{d}},
              Dim{d}, d == 0 ? vertex : per_piece[d] * pieces.first[p],
              d == 0 ? vertex + 1 : per_piece[d] * pieces.first[p + 1]);
    }
  }
  return tables;
}

}  // namespace barrio::mesh
