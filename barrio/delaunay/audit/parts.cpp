#include "barrio/delaunay/audit/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

namespace barrio::delaunay::detail {

Parts::Parts(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges, const Chains& chains)
    : mesh_(&mesh),
      graph_(&graph),
      edges_(&edges),
      chains_(&chains),
      parts_(mesh.triangles.size()),
      regions_(mesh.triangles.size(), 0) {
  edges.for_each([&](std::span<const EdgeTable::Use> uses) {
    if (uses.size() == 2 && chains.find(uses[0].low, uses[0].high) == nullptr)
      parts_.join(uses[0].triangle, uses[1].triangle);
  });
}

void Parts::find_regions(ExactSigns& signs) {
  if (graph_->sides.empty())
    find_by_places(signs);
  else
    find_by_sides();
}

std::string Parts::place(std::size_t triangle) const {
  const Point& p = mesh_->points[mesh_->triangles[triangle][0]];
  return fmt::format("({:.9g}, {:.9g})", p[0], p[1]);
}

void Parts::name(std::size_t triangle, std::int32_t region) {
  std::int32_t& there = regions_[parts_.root(triangle)];
  if (there == region) return;
  if (there != 0 && fault_.empty())
    fault_ = fmt::format("the part at {} is in regions {} and {}", place(triangle), there, region);
  if (there == 0) ++n_named_;
  there = region;
}

void Parts::find_by_places(ExactSigns& signs) {
  const auto has = [&](std::size_t t, const Point& p) {
    const auto corner = [&](std::size_t i) -> const Point& { return mesh_->points[mesh_->triangles[t][i % 3]]; };
    for (std::size_t k = 0; k < 2; ++k) {
      const auto [low, high] = std::minmax({corner(0)[k], corner(1)[k], corner(2)[k]});
      if (p[k] < low || p[k] > high) return false;
    }
    for (std::size_t i = 0; i < 3; ++i)
      if (signs.orientation(corner(i), corner(i + 1), p) < 0) return false;
    return true;
  };
  for (std::int32_t r = 0; r < std::ssize(graph_->regions); ++r) {
    std::size_t t = 0;
    while (t < mesh_->triangles.size() && !has(t, graph_->regions[r].place)) ++t;
    if (t < mesh_->triangles.size()) {
      // the last one counts of two positions in one part
      n_named_ += std::exchange(regions_[parts_.root(t)], r + 1) == 0 ? 1 : 0;
    } else if (fault_.empty()) {
      fault_ = fmt::format("region {} has its position outside", r + 1);
    }
  }
}

void Parts::find_by_sides() {
  // sort the pieces by edges: where one says outside, another of the same edge may name a region
  struct Said {
    std::array<std::int32_t, 2> ends;
    std::array<std::int32_t, 2> sides;  // left and right of the way from the lower end
  };
  std::vector<Said> all;
  for (const Chains::Piece& piece : chains_->pieces()) {
    const auto [left, right] = graph_->sides[piece.segment];
    if (piece.from < piece.to)
      all.push_back({{piece.from, piece.to}, {left, right}});
    else
      all.push_back({{piece.to, piece.from}, {right, left}});
  }
  std::ranges::sort(all, {}, &Said::ends);
  for (std::size_t i = 0; i < all.size();) {
    Said said = all[i];
    for (; i < all.size() && all[i].ends == said.ends; ++i)
      for (std::size_t side = 0; side < 2; ++side) said.sides[side] = std::max(said.sides[side], all[i].sides[side]);
    std::array<bool, 2> has_triangle{};
    for (const EdgeTable::Use& use : edges_->find(said.ends[0], said.ends[1])) {
      const std::size_t side = use.is_upward ? 0 : 1;
      has_triangle[side] = true;
      if (said.sides[side] > 0) name(use.triangle, said.sides[side]);
    }
    for (std::size_t side = 0; side < 2; ++side) {
      if (has_triangle[side] == (said.sides[side] != PlanarGraph::outside) || !fault_.empty()) continue;
      const Point& p = mesh_->points[said.ends[0]];
      fault_ = fmt::format("the segment at ({:.9g}, {:.9g}) {}", p[0], p[1],
                           has_triangle[side] ? "has triangles outside" : "lacks a triangle");
    }
  }
}

}  // namespace barrio::delaunay::detail
