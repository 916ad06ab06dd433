#include "barrio/delaunay/kernel/traversal.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace barrio::delaunay::detail {
namespace {

/// Make an edge of a triangle its edge 0.
void rotate(Triangulation& mesh, std::int32_t row, std::uint32_t edge) noexcept {
  if (edge == 0) return;
  Triangle& t = mesh.triangle(row);
  const Triangle before = t;
  std::uint32_t from = edge;
  t.state &= ~(Triangle::segment_bit(0) | Triangle::segment_bit(1) | Triangle::segment_bit(2));
  for (std::uint32_t to = 0; to < 3; ++to, from = next_corner(from)) {
    t.vertices[to] = before.vertices[from];
    t.neighbours[to] = before.neighbours[from];
    if (before.is_segment(from)) t.state |= Triangle::segment_bit(to);
    const Side beyond = t.neighbours[to];
    if (beyond) mesh.triangle(beyond.triangle()).neighbours[beyond.edge()] = Side(row, to);
  }
}

/// Corners of a triangle, the one with the smallest coordinates first.
using Corners = std::array<Point, 3>;

std::uint32_t first_corner(const Triangulation& mesh, const Triangle& t) noexcept {
  std::uint32_t first = 0;
  for (std::uint32_t i = 1; i < 3; ++i)
    if (mesh.point(t.vertices[i]) < mesh.point(t.vertices[first])) first = i;
  return first;
}

Corners corners_of(const Triangulation& mesh, std::int32_t row) noexcept {
  const Triangle& t = mesh.triangle(row);
  const std::uint32_t i = first_corner(mesh, t);
  return {mesh.point(t.vertices[i]), mesh.point(t.vertices[next_corner(i)]),
          mesh.point(t.vertices[previous_corner(i)])};
}

/// A walk over the triangles that are connected by edges, depth first.
class Walk {
 public:
  explicit Walk(Triangulation& mesh) : mesh_(&mesh), is_seen_(mesh.triangles.size(), 0) {
    order_.reserve(mesh.n_triangles());
  }

  [[nodiscard]] bool is_seen(std::int32_t row) const noexcept { return is_seen_[row] != 0; }
  [[nodiscard]] std::vector<std::int32_t>& order() noexcept { return order_; }
  void forget(std::size_t first) noexcept {
    for (std::size_t i = first; i < order_.size(); ++i) is_seen_[order_[i]] = 0;
    order_.resize(first);
  }
  /// Append a triangle and all that are connected with it. @param start  its edge that becomes edge 0
  void append(Side start) {
    enter(start);
    while (!stack_.empty()) {
      const Side side = stack_.back();
      stack_.pop_back();
      if (!is_seen(side.triangle())) enter(side);
    }
  }

 private:
  void enter(Side side) {
    const std::int32_t row = side.triangle();
    is_seen_[row] = 1;
    order_.push_back(row);
    rotate(*mesh_, row, side.edge());
    const Triangle& t = mesh_->triangle(row);
    for (std::uint32_t e = 3; e-- > 0;) {
      const Side beyond = t.neighbours[e];
      if (beyond && !is_seen(beyond.triangle())) stack_.push_back(beyond);
    }
  }

  Triangulation* mesh_;
  std::vector<std::uint8_t> is_seen_;
  std::vector<std::int32_t> order_;
  std::vector<Side> stack_;
};

struct Seed {
  Corners corners;
  std::int32_t row;
};

}  // namespace

std::vector<std::int32_t> canonical_order(Triangulation& mesh) {
  Walk walk(mesh);
  const auto n_rows = static_cast<std::int32_t>(mesh.triangles.size());
  const auto append = [&](std::int32_t row) { walk.append(Side(row, first_corner(mesh, mesh.triangle(row)))); };
  // most meshes are connected: their first triangle is that with the smallest corner of all
  Seed first{{}, -1};
  for (std::int32_t row = 0; row < n_rows; ++row) {
    if (!mesh.triangle(row).is_used()) continue;
    const Triangle& t = mesh.triangle(row);
    if (first.row >= 0 &&
        std::ranges::none_of(t.vertices, [&](std::int32_t v) { return mesh.point(v) <= first.corners[0]; }))
      continue;
    if (const Corners corners = corners_of(mesh, row); first.row < 0 || corners < first.corners) first = {corners, row};
  }
  if (first.row < 0) return {};
  append(first.row);
  const std::size_t n_first = walk.order().size();
  if (std::ssize(walk.order()) == mesh.n_triangles()) return std::move(walk.order());
  // find the first triangle of each other part
  std::vector<Seed> seeds;
  for (std::int32_t row = 0; row < n_rows; ++row) {
    if (!mesh.triangle(row).is_used() || walk.is_seen(row)) continue;
    const std::size_t begin = walk.order().size();
    append(row);
    Seed seed{corners_of(mesh, row), row};
    for (std::size_t i = begin; i < walk.order().size(); ++i)
      if (const Corners corners = corners_of(mesh, walk.order()[i]); corners < seed.corners)
        seed = {corners, walk.order()[i]};
    seeds.push_back(seed);
  }
  std::ranges::sort(seeds, {}, &Seed::corners);
  walk.forget(n_first);
  for (const Seed& seed : seeds) append(seed.row);
  return std::move(walk.order());
}

}  // namespace barrio::delaunay::detail
