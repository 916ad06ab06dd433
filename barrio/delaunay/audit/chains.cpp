#include "barrio/delaunay/audit/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <unordered_set>
#include <utility>

namespace barrio::delaunay::detail {
namespace {

std::array<std::int32_t, 2> sorted_ends(std::int32_t a, std::int32_t b) noexcept {
  return {std::min(a, b), std::max(a, b)};
}

}  // namespace

/// A segment of the graph, from its start to its end.
class Chains::Line {
 public:
  Line(const Point& from, const Point& to, std::int32_t last)
      : from_(from),
        to_(to),
        along_{to[0] - from[0], to[1] - from[1]},
        length_(std::hypot(along_[0], along_[1])),
        last_(last) {}

  [[nodiscard]] const Point& from() const noexcept { return from_; }
  [[nodiscard]] const Point& to() const noexcept { return to_; }
  [[nodiscard]] double length() const noexcept { return length_; }
  /// Return the vertex at its end, or -1.
  [[nodiscard]] std::int32_t last() const noexcept { return last_; }
  /// Return how far along it a point lies.
  [[nodiscard]] double progress(const Point& p) const noexcept {
    return ((p[0] - from_[0]) * along_[0] + (p[1] - from_[1]) * along_[1]) / length_;
  }
  [[nodiscard]] double distance(const Point& p) const noexcept {
    return std::abs((p[0] - from_[0]) * along_[1] - (p[1] - from_[1]) * along_[0]) / length_;
  }
  [[nodiscard]] bool has(const Point& p, ExactSigns& signs) const { return signs.orientation(from_, to_, p) == 0; }

 private:
  Point from_;
  Point to_;
  Point along_;
  double length_;
  std::int32_t last_;
};

Chains::Chains(const AuditedMesh& mesh, std::span<const Point> points, std::span<const PlanarGraph::Edge> segments,
               bool fills_hull, const EdgeTable& edges, std::span<const EdgeTable::Use> boundary, ExactSigns& signs)
    : mesh_(&mesh), points_(points), segments_(segments), is_input_(mesh.points.size(), 0) {
  find_vertices();
  double largest = 0.0;
  for (const Point& p : mesh.points) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
  rounding_ = 8 * std::numeric_limits<double>::epsilon() * largest;
  if (!list_neighbours(edges, fills_hull ? boundary : std::span<const EdgeTable::Use>())) return;
  list_stops(boundary);
  for (std::uint32_t s = 0; s < segments_.size(); ++s) follow(s, signs);
  by_edge_.resize(pieces_.size());
  std::iota(by_edge_.begin(), by_edge_.end(), 0U);
  std::ranges::sort(by_edge_, {},
                    [&](std::uint32_t i) { return std::pair{sorted_ends(pieces_[i].from, pieces_[i].to), i}; });
}

void Chains::find_vertices() {
  std::vector<std::int32_t> order;
  const auto point_of = [&](std::int32_t v) -> const Point& { return point(v); };
  const auto search = [&](const Point& p) -> std::int32_t {
    if (order.empty()) {
      order.resize(mesh_->points.size());
      std::iota(order.begin(), order.end(), std::int32_t{0});
      std::ranges::sort(order, {}, point_of);
    }
    const auto found = std::ranges::lower_bound(order, p, {}, point_of);
    return found != order.end() && point(*found) == p ? *found : -1;
  };
  vertices_.reserve(points_.size());
  std::int32_t next = 0;  // most files have the points of the graph first, in its order
  for (const Point& p : points_) {
    const bool is_next = next < std::ssize(mesh_->points) && point(next) == p;
    const std::int32_t v = is_next ? next : search(p);
    vertices_.push_back(v);
    if (v < 0) continue;
    is_input_[v] = 1;
    next = v + 1;
  }
}

/// List the neighbours of each vertex along the listed edges. @param boundary  edges that count too
bool Chains::list_neighbours(const EdgeTable& edges, std::span<const EdgeTable::Use> boundary) {
  std::vector<std::array<std::int32_t, 2>> more;
  more.reserve(boundary.size());
  for (const EdgeTable::Use& use : boundary) more.push_back({use.low, use.high});
  const std::array<const std::vector<std::array<std::int32_t, 2>>*, 2> lists{&mesh_->edges, &more};
  // after the sums, `first_` is one entry ahead, so that places need no copy of it
  first_.assign(mesh_->points.size() + 2, 0);
  for (const auto& edge : mesh_->edges) {
    if (edges.find(edge[0], edge[1]).empty()) {
      fault_ = fmt::format("edge {} to {} is not an edge of a triangle", edge[0], edge[1]);
      return false;
    }
  }
  for (const auto* list : lists)
    for (const auto& edge : *list)
      for (const std::int32_t v : edge) ++first_[v + 2];
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  next_.resize(2 * (mesh_->edges.size() + more.size()));
  for (const auto* list : lists)
    for (const auto& edge : *list)
      for (std::size_t i = 0; i < 2; ++i) next_[first_[edge[i] + 1]++] = edge[1 - i];
  first_.pop_back();
  return true;
}

void Chains::list_stops(std::span<const EdgeTable::Use> boundary) {
  if (segments_.empty()) return;
  for (const EdgeTable::Use& use : boundary)
    for (const std::int32_t v : {use.low, use.high})
      if (is_input_[v] != 0) stops_.push_back(v);
  std::ranges::sort(stops_, {}, [&](std::int32_t v) { return std::pair{point(v), v}; });
  stops_.erase(std::ranges::unique(stops_).begin(), stops_.end());
}

/// Walk from a vertex on a line towards the line's end: in each step to the nearest vertex ahead on it, and back from a
/// dead end, such as one beside a segment that is some ulps away.
/// @return the vertices to the end, or on the farthest path
std::vector<std::int32_t> Chains::walk(std::int32_t from, const Line& line, ExactSigns& signs) const {
  std::vector<std::int32_t> path{from};
  std::vector<std::int32_t> farthest;
  std::unordered_set<std::int32_t> dead_ends;
  double reached = -std::numeric_limits<double>::infinity();
  while (!path.empty() && path.back() != line.last()) {
    const std::int32_t at = path.back();
    const double here = line.progress(point(at));
    double nearest = std::numeric_limits<double>::infinity();
    std::int32_t next = -1;
    for (std::uint32_t i = first_[at]; i < first_[at + 1]; ++i) {
      const std::int32_t w = next_[i];
      const Point& p = point(w);
      const double there = line.progress(p);
      if (line.distance(p) > rounding_ || there <= here || there > line.length() + rounding_ || there >= nearest ||
          dead_ends.contains(w))
        continue;
      // a point of the graph must lie on the segment exactly; an added one is rounded
      if (w != line.last() && is_input_[w] != 0 && !line.has(p, signs)) continue;
      nearest = there;
      next = w;
    }
    if (next >= 0) {
      path.push_back(next);
      continue;
    }
    if (here > reached) {
      reached = here;
      farthest = path;
    }
    dead_ends.insert(at);
    path.pop_back();
  }
  return path.empty() ? farthest : path;
}

/// Find the vertices where a line may come back to the triangles, from its start to its end.
std::vector<std::int32_t> Chains::stops_on(const Line& line, ExactSigns& signs) const {
  const auto [low, high] = std::minmax(line.from()[0], line.to()[0]);
  const auto begin = std::ranges::lower_bound(stops_, low, {}, [&](std::int32_t v) { return point(v)[0]; });
  std::vector<std::int32_t> found;
  for (auto i = begin; i != stops_.end() && point(*i)[0] <= high; ++i) {
    const Point& p = point(*i);
    const double progress = line.progress(p);
    if (line.distance(p) <= rounding_ && progress > 0 && progress < line.length() && *i != line.last() &&
        line.has(p, signs))
      found.push_back(*i);
  }
  std::ranges::sort(found, {}, [&](std::int32_t v) { return line.progress(point(v)); });
  return found;
}

void Chains::follow(std::uint32_t segment, ExactSigns& signs) {
  const auto [a, b] = segments_[segment].ends;
  const std::int32_t first = vertices_[a];
  const Line line(points_[a], points_[b], vertices_[b]);
  Point here = line.from();
  const auto go_on = [&](std::int32_t from) {
    const std::vector<std::int32_t> path = walk(from, line, signs);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) pieces_.push_back({path[i], path[i + 1], segment});
    here = point(path.back());
    return path.back() == line.last();
  };
  if (first >= 0 && go_on(first)) return;
  for (const std::int32_t stop : stops_on(line, signs)) {
    if (line.progress(point(stop)) <= line.progress(here)) continue;
    gaps_.push_back({here, point(stop), segment});
    if (go_on(stop)) return;
  }
  gaps_.push_back({here, line.to(), segment});
}

std::span<const std::uint32_t> Chains::find_all(std::int32_t a, std::int32_t b) const noexcept {
  // a vertex without listed edges is on no segment; most edges have one
  if (first_.empty() || first_[a] == first_[a + 1] || first_[b] == first_[b + 1]) return {};
  const auto key = [&](std::uint32_t i) { return sorted_ends(pieces_[i].from, pieces_[i].to); };
  const auto found = std::ranges::equal_range(by_edge_, sorted_ends(a, b), {}, key);
  return {found.begin(), found.end()};
}

const Chains::Piece* Chains::find(std::int32_t a, std::int32_t b) const noexcept {
  const std::span<const std::uint32_t> found = find_all(a, b);
  return found.empty() ? nullptr : &pieces_[found.front()];
}

}  // namespace barrio::delaunay::detail
