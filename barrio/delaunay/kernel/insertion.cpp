#include "barrio/delaunay/kernel/insertion.hpp"

#include <algorithm>
#include <array>

#include "barrio/base/error.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr std::size_t max_triangles = (std::size_t{1} << 30U) - 1;
constexpr std::uint32_t no_vertex = no_segment;  // end of the list of unused rows

/// Tell whether p lies beyond a hull edge: on its outer side, or in its interior.
bool is_beyond(const Triangulation& mesh, const Triangle& outside, const Point& p) noexcept {
  const std::uint32_t i = corner_of(outside, outside_vertex);
  const Point& a = mesh.point(outside.vertices[next_corner(i)]);
  const Point& b = mesh.point(outside.vertices[previous_corner(i)]);
  if (const int sign = geometry::orient2d(a, b, p); sign != 0) return sign > 0;
  const std::size_t axis = a[0] == b[0] ? 1 : 0;
  return (a[axis] < p[axis]) == (p[axis] < b[axis]) && p[axis] != a[axis] && p[axis] != b[axis];
}

}  // namespace

std::int32_t make_vertex(Triangulation& mesh, const Point& p, VertexInfo info) {
  if (const std::int32_t v = mesh.first_unused_vertex; v >= 0) {
    const std::uint32_t next = mesh.info(v).segment();
    mesh.first_unused_vertex = next == no_vertex ? -1 : static_cast<std::int32_t>(next);
    --mesh.n_unused_vertices;
    mesh.points[v] = p;
    mesh.infos[v] = info;
    return v;
  }
  mesh.points.push_back(p);
  mesh.infos.push_back(info);
  return static_cast<std::int32_t>(mesh.points.size() - 1);
}

void interpolate(Triangulation& mesh, std::int32_t vertex, const Triangle& t) {
  const std::size_t width = mesh.attribute_width();
  if (width == 0) return;
  mesh.attribute_values.resize(mesh.points.size() * width);
  const Point& p = mesh.point(vertex);
  std::array<double, 3> weights{};
  double sum = 0.0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    const Point& a = mesh.point(t.vertices[next_corner(i)]);
    const Point& b = mesh.point(t.vertices[previous_corner(i)]);
    // a weight that rounding makes negative would leave the range of the corners' values
    weights[i] = std::max(0.0, (a[0] - p[0]) * (b[1] - p[1]) - (a[1] - p[1]) * (b[0] - p[0]));
    sum += weights[i];
  }
  double* const to = mesh.attribute_values.data() + vertex * width;
  const auto of = [&](std::uint32_t i) { return mesh.attribute_values.data() + t.vertices[i] * width; };
  for (std::size_t k = 0; k < width; ++k)
    to[k] = of(0)[k] + (weights[1] * (of(1)[k] - of(0)[k]) + weights[2] * (of(2)[k] - of(0)[k])) / sum;
}

void interpolate(Triangulation& mesh, std::int32_t vertex, std::int32_t from, std::int32_t to, double part) {
  const std::size_t width = mesh.attribute_width();
  if (width == 0) return;
  mesh.attribute_values.resize(mesh.points.size() * width);
  double* const all = mesh.attribute_values.data();
  const double* const a = all + from * width;
  const double* const b = all + to * width;
  for (std::size_t k = 0; k < width; ++k) all[vertex * width + k] = a[k] + part * (b[k] - a[k]);
}

void free_vertex(Triangulation& mesh, std::int32_t vertex) noexcept {
  const auto next = mesh.first_unused_vertex < 0 ? no_vertex : static_cast<std::uint32_t>(mesh.first_unused_vertex);
  mesh.infos[vertex] = VertexInfo(VertexKind::unused, next);
  mesh.first_unused_vertex = vertex;
  ++mesh.n_unused_vertices;
}

void free_triangle(Triangulation& mesh, std::int32_t row) noexcept {
  Triangle& t = mesh.triangle(row);
  if ((t.state & Triangle::unused) == 0) ++mesh.n_unused_triangles;
  t.state |= Triangle::unused;
  if ((t.state & Triangle::queued) != 0) return;
  t.next = mesh.first_unused_triangle;
  mesh.first_unused_triangle = row;
}

Place Insertion::locate(const Point& p, std::int32_t from) noexcept {
  std::int32_t row = from;
  Side entered;
  for (;;) {
    const Triangle& t = mesh_->triangle(row);
    // start with another edge in each step: a walk must not run in circles
    first_edge_ = first_edge_ == 2 ? 0 : first_edge_ + 1;
    bool is_on_edge = false;
    std::uint32_t e = first_edge_;
    std::uint32_t n = 0;
    for (; n < 3; ++n, e = next_corner(e)) {
      if (entered && e == entered.edge()) continue;
      const int sign =
          geometry::orient2d(mesh_->point(t.vertices[next_corner(e)]), mesh_->point(t.vertices[previous_corner(e)]), p);
      if (sign < 0) break;
      is_on_edge = is_on_edge || sign == 0;
    }
    if (n == 3) {
      for (std::uint32_t i = 0; is_on_edge && i < 3; ++i)
        if (mesh_->point(t.vertices[i]) == p) return {Place::Kind::vertex, {row, i}};
      return {Place::Kind::inside, {row, 0}};
    }
    const Side beyond = t.neighbours[e];
    if (t.is_segment(e) || !beyond) return {Place::Kind::blocked, {row, e}};
    if (is_outside(mesh_->triangle(beyond.triangle()))) return {Place::Kind::exterior, beyond};
    row = beyond.triangle();
    entered = beyond;
  }
}

bool Insertion::is_conflict(const Triangle& u, const Point& p) const noexcept {
  if (is_outside(u)) return is_beyond(*mesh_, u, p);
  const Point& a = mesh_->point(u.vertices[0]);
  const Point& b = mesh_->point(u.vertices[1]);
  const Point& c = mesh_->point(u.vertices[2]);
  if (const int sign = geometry::incircle(a, b, c, p); sign != 0) return sign > 0;
  return geometry::incircle_of_one_circle({a, b, c, p}) > 0;
}

/// Process the edges on the stack, with the next one counterclockwise on top: cross those whose neighbour belongs to
/// the cavity, and append the others to the ring.
void Insertion::grow(const Point& p) {
  while (!stack_.empty()) {
    const Side side = stack_.back();
    stack_.pop_back();
    const Triangle& t = mesh_->triangle(side.triangle());
    const Side beyond = t.neighbours[side.edge()];
    const bool is_segment = t.is_segment(side.edge());
    if (beyond && !is_segment && is_conflict(mesh_->triangle(beyond.triangle()), p)) {
      rows_.push_back(beyond.triangle());
      stack_.emplace_back(beyond.triangle(), previous_corner(beyond.edge()));
      stack_.emplace_back(beyond.triangle(), next_corner(beyond.edge()));
      continue;
    }
    ring_.push_back({t.vertices[next_corner(side.edge())], side, beyond,
                     t.region() | (is_segment ? Triangle::segment_bit(0) : 0U)});
  }
}

void Insertion::find_cavity(const Point& p, std::int32_t t) {
  rows_.clear();
  ring_.clear();
  rows_.push_back(t);
  stack_.emplace_back(t, 2U);
  stack_.emplace_back(t, 1U);
  stack_.emplace_back(t, 0U);
  grow(p);
  is_closed_ = true;
  is_on_segment_ = false;
  last_ = ring_.front().from;
}

void Insertion::find_cavity_at_segment(const Point& p, Side segment) {
  rows_.clear();
  ring_.clear();
  const Triangle& t = mesh_->triangle(segment.triangle());
  last_ = t.vertices[next_corner(segment.edge())];
  const Side beyond = t.neighbours[segment.edge()];
  rows_.push_back(segment.triangle());
  stack_.emplace_back(segment.triangle(), previous_corner(segment.edge()));
  stack_.emplace_back(segment.triangle(), next_corner(segment.edge()));
  grow(p);
  is_closed_ = static_cast<bool>(beyond);
  middle_ = ring_.size();
  sides_ = {segment.triangle(), is_closed_ ? beyond.triangle() : -1};
  is_on_segment_ = true;
  if (!is_closed_) return;
  rows_.push_back(beyond.triangle());
  stack_.emplace_back(beyond.triangle(), previous_corner(beyond.edge()));
  stack_.emplace_back(beyond.triangle(), next_corner(beyond.edge()));
  grow(p);
  last_ = ring_.front().from;
}

bool Insertion::is_star(const Point& p) const noexcept {
  for (std::size_t k = 0; k < ring_.size(); ++k)
    if (geometry::orient2d(mesh_->point(ring_[k].from), mesh_->point(ring_end(k)), p) <= 0) return false;
  return true;
}

bool Insertion::has_sides_in_circle(const Point& p) const noexcept {
  return std::ranges::all_of(sides_, [&](std::int32_t row) {
    if (row < 0) return true;
    const Triangle& t = mesh_->triangle(row);
    return geometry::incircle(mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2]),
                              p) > 0;
  });
}

std::int32_t Insertion::make_row() {
  if (const std::int32_t row = mesh_->first_unused_triangle; row >= 0) {
    mesh_->first_unused_triangle = mesh_->triangle(row).next;
    --mesh_->n_unused_triangles;
    mesh_->triangle(row).state = 0;
    return row;
  }
  const std::size_t row = mesh_->triangles.size();
  if (row >= max_triangles)
    refuse(ErrorCode::failed, "triangulation", "needs more than 2^30 triangles",
           "allow larger triangles, or cut the domain into parts");
  mesh_->triangles.resize(row + 1);
  mesh_->triangles[row].state = 0;
  return static_cast<std::int32_t>(row);
}

const std::vector<std::int32_t>& Insertion::fill(std::int32_t vertex) {
  const std::size_t n = ring_.size();
  while (rows_.size() < n) rows_.push_back(make_row());
  const std::int32_t end_of_first = is_closed_ ? ring_.front().from : last_;
  for (std::size_t k = 0; k < n; ++k) {
    const RingEdge& edge = ring_[k];
    const std::int32_t row = rows_[k];
    Triangle& t = mesh_->triangle(row);
    const std::int32_t to = k + 1 < n ? ring_[k + 1].from : end_of_first;
    t.vertices = {vertex, edge.from, to};
    t.neighbours = {edge.outside, Side(rows_[k + 1 < n ? k + 1 : 0], 2), Side(rows_[k > 0 ? k - 1 : n - 1], 1)};
    t.state = (t.state & Triangle::queued) | edge.state;
    if (edge.outside) mesh_->triangle(edge.outside.triangle()).neighbours[edge.outside.edge()] = Side(row, 0);
  }
  if (!is_on_segment_) return rows_;
  // the ring starts and ends at ends of the segment: a closed one at the same end, with the other end at middle_
  Triangle& first = mesh_->triangle(rows_.front());
  Triangle& last = mesh_->triangle(rows_[n - 1]);
  first.state |= Triangle::segment_bit(2);
  last.state |= Triangle::segment_bit(1);
  if (!is_closed_) {
    first.neighbours[2] = {};
    last.neighbours[1] = {};
    return rows_;
  }
  mesh_->triangle(rows_[middle_ - 1]).state |= Triangle::segment_bit(1);
  mesh_->triangle(rows_[middle_]).state |= Triangle::segment_bit(2);
  return rows_;
}

}  // namespace barrio::delaunay::detail
