#include "barrio/delaunay/audit/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace barrio::delaunay::detail {
namespace {

std::array<std::int64_t, 2> ordered(std::int64_t a, std::int64_t b) noexcept {
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

Chains::Chains(const AuditedMesh& mesh, const PlanarGraph& graph, const EdgeTable& edges) {
  find_vertices(mesh, graph);
  double largest = 0.0;
  for (const Point& p : mesh.points) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
  rounding_ = 8 * std::numeric_limits<double>::epsilon() * largest;
  first_.assign(mesh.points.size() + 1, 0);
  const auto is_edge = [&](const std::array<std::int64_t, 2>& edge) { return !edges.find(edge[0], edge[1]).empty(); };
  for (const auto& edge : mesh.edges) {
    if (!is_edge(edge)) {
      fault_ = fmt::format("edge {} to {} is none of a triangle", edge[0], edge[1]);
      return;
    }
    for (const std::int64_t v : edge) ++first_[static_cast<std::size_t>(v) + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  next_.resize(2 * mesh.edges.size());
  std::vector<std::int64_t> place(first_.begin(), first_.end() - 1);
  for (const auto& edge : mesh.edges)
    for (std::size_t i = 0; i < 2; ++i)
      next_[static_cast<std::size_t>(place[static_cast<std::size_t>(edge[i])]++)] = edge[1 - i];
  for (std::size_t s = 0; s < graph.segments.size(); ++s) follow(mesh, graph, s);
  by_edge_.resize(pieces_.size());
  std::iota(by_edge_.begin(), by_edge_.end(), std::size_t{0});
  std::ranges::sort(by_edge_, {}, [&](std::size_t i) { return ordered(pieces_[i].from, pieces_[i].to); });
}

void Chains::find_vertices(const AuditedMesh& mesh, const PlanarGraph& graph) {
  std::vector<std::size_t> order(mesh.points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto point = [&](std::size_t v) -> const Point& { return mesh.points[v]; };
  std::ranges::sort(order, {}, point);
  for (const Point& p : graph.points) {
    const auto found = std::ranges::lower_bound(order, p, {}, point);
    vertices_.push_back(found != order.end() && point(*found) == p ? static_cast<std::int64_t>(*found) : -1);
  }
}

/// Go from the beginning of a segment to its end: each time to the nearest vertex that lies ahead on it.
void Chains::follow(const AuditedMesh& mesh, const PlanarGraph& graph, std::size_t segment) {
  const auto end_of = [&](std::size_t e) {
    return vertices_[static_cast<std::size_t>(graph.segments[segment].ends[e])];
  };
  const Point& a = graph.points[static_cast<std::size_t>(graph.segments[segment].ends[0])];
  const Point& b = graph.points[static_cast<std::size_t>(graph.segments[segment].ends[1])];
  const Point along{b[0] - a[0], b[1] - a[1]};
  const double length = std::hypot(along[0], along[1]);
  const std::size_t n_before = pieces_.size();
  std::int64_t at = end_of(0);
  while (at >= 0 && at != end_of(1)) {
    const auto v = static_cast<std::size_t>(at);
    const auto progress = [&](const Point& p) {
      return ((p[0] - a[0]) * along[0] + (p[1] - a[1]) * along[1]) / length;
    };
    const double here = progress(mesh.points[v]);
    double nearest = std::numeric_limits<double>::infinity();
    std::int64_t next = -1;
    for (std::int64_t i = first_[v]; i < first_[v + 1]; ++i) {
      const std::int64_t w = next_[static_cast<std::size_t>(i)];
      const Point& p = mesh.points[static_cast<std::size_t>(w)];
      const double aside = std::abs((p[0] - a[0]) * along[1] - (p[1] - a[1]) * along[0]) / length;
      const double there = progress(p);
      if (aside > rounding_ || there <= here || there > length + rounding_ || there >= nearest) continue;
      nearest = there;
      next = w;
    }
    if (next < 0) break;
    pieces_.push_back({at, next, segment});
    at = next;
  }
  if (at >= 0 && at == end_of(1)) return;
  if (pieces_.size() == n_before) {
    absent_.push_back(segment);
    return;
  }
  const Point& p = mesh.points[static_cast<std::size_t>(at)];
  if (fault_.empty()) fault_ = fmt::format("segment {} ends at ({:g}, {:g})", segment, p[0], p[1]);
}

const Chains::Piece* Chains::find(std::int64_t a, std::int64_t b) const noexcept {
  const auto key = [&](std::size_t i) { return ordered(pieces_[i].from, pieces_[i].to); };
  const auto found = std::ranges::lower_bound(by_edge_, ordered(a, b), {}, key);
  return found != by_edge_.end() && key(*found) == ordered(a, b) ? &pieces_[*found] : nullptr;
}

}  // namespace barrio::delaunay::detail
