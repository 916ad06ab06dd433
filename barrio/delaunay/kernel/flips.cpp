#include "barrio/delaunay/kernel/flips.hpp"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/kernel/insertion.hpp"

namespace barrio::delaunay::detail {
namespace {

/// Tell whether p lies ahead of a in the direction of b; all three are on one line.
bool is_ahead(const Point& a, const Point& b, const Point& p) noexcept {
  const std::size_t axis = a[0] == b[0] ? 1 : 0;
  return (a[axis] < b[axis]) == (a[axis] < p[axis]) && a[axis] != p[axis];
}

}  // namespace

void flip(Triangulation& mesh, Side side) noexcept {
  const std::int32_t row = side.triangle();
  Triangle& t = mesh.triangle(row);
  const std::uint32_t i = side.edge();
  const Side other = t.neighbours[i];
  const std::int32_t beyond = other.triangle();
  Triangle& u = mesh.triangle(beyond);
  const std::uint32_t j = other.edge();
  const std::int32_t a = t.vertices[i];
  const std::int32_t b = t.vertices[next_corner(i)];
  const std::int32_t c = t.vertices[previous_corner(i)];
  const std::int32_t d = u.vertices[j];
  const auto edge_of = [](const Triangle& from, std::uint32_t e) {
    return std::pair{from.neighbours[e], from.is_segment(e)};
  };
  const auto ab = edge_of(t, previous_corner(i));
  const auto ca = edge_of(t, next_corner(i));
  const auto bd = edge_of(u, next_corner(j));  // u is (d, c, b)
  const auto dc = edge_of(u, previous_corner(j));
  const auto set = [&mesh](std::int32_t to, const std::array<std::int32_t, 3>& vertices, const auto& first,
                           const auto& second, Side across) {
    Triangle& into = mesh.triangle(to);
    into.vertices = vertices;
    into.neighbours = {first.first, second.first, across};
    into.state &= ~(Triangle::segment_bit(0) | Triangle::segment_bit(1) | Triangle::segment_bit(2));
    if (first.second) into.state |= Triangle::segment_bit(0);
    if (second.second) into.state |= Triangle::segment_bit(1);
    if (first.first) mesh.triangle(first.first.triangle()).neighbours[first.first.edge()] = Side(to, 0);
    if (second.first) mesh.triangle(second.first.triangle()).neighbours[second.first.edge()] = Side(to, 1);
  };
  set(row, {d, a, b}, ab, bd, Side(beyond, 2));
  set(beyond, {a, d, c}, dc, ca, Side(row, 2));
}

bool is_delaunay(const Triangulation& mesh, Side side) noexcept {
  const Triangle& t = mesh.triangle(side.triangle());
  const Side other = t.neighbours[side.edge()];
  const Point& a = mesh.point(t.vertices[0]);
  const Point& b = mesh.point(t.vertices[1]);
  const Point& c = mesh.point(t.vertices[2]);
  const Point& p = mesh.point(mesh.triangle(other.triangle()).vertices[other.edge()]);
  if (const int sign = geometry::incircle(a, b, c, p); sign != 0) return sign < 0;
  return geometry::incircle_of_one_circle({a, b, c, p}) < 0;
}

bool is_convex(const Triangulation& mesh, Side side) noexcept {
  const Triangle& t = mesh.triangle(side.triangle());
  const Side other = t.neighbours[side.edge()];
  const Point& a = mesh.point(t.vertices[side.edge()]);
  const Point& b = mesh.point(t.vertices[next_corner(side.edge())]);
  const Point& c = mesh.point(t.vertices[previous_corner(side.edge())]);
  const Point& d = mesh.point(mesh.triangle(other.triangle()).vertices[other.edge()]);
  return geometry::orient2d(a, b, d) > 0 && geometry::orient2d(d, c, a) > 0;
}

SegmentInsertion::SegmentInsertion(Triangulation& mesh) : mesh_(&mesh), triangle_of_(mesh.points.size(), -1) {
  for (std::int32_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    if (!mesh.triangles[row].is_used()) continue;
    for (const std::int32_t v : mesh.triangles[row].vertices)
      if (v >= 0) triangle_of_[v] = row;
  }
}

const std::vector<std::int32_t>& SegmentInsertion::insert(std::int32_t from, std::int32_t to) {
  way_.assign(1, from);
  way_back_.assign(1, to);
  while (from != to) {
    const Search search = search_both(from, to);
    if (search.side) {  // most are edges already
      mark(search.side);
      break;
    }
    // go on at the end with fewer triangles: where many segments meet, each would look at all of them
    std::int32_t& here = search.is_smaller_at_to ? to : from;
    const std::int32_t there = search.is_smaller_at_to ? from : to;
    const Ahead ahead = look(here, there);
    const std::int32_t end = ahead.edge ? cross(here, there, ahead.edge) : ahead.vertex;
    flip_crossed(here, end);
    mark(find(here, end));
    restore();
    here = end;
    if (from != to) (search.is_smaller_at_to ? way_back_ : way_).push_back(end);
  }
  way_.insert(way_.end(), way_back_.rbegin(), way_back_.rend());
  return way_;
}

/// Turn counterclockwise around a vertex until the way to another one is met. Triangles surround the vertex on all
/// sides, outside triangles included.
SegmentInsertion::Ahead SegmentInsertion::look(std::int32_t from, std::int32_t to) const {
  const Point& a = mesh_->point(from);
  const Point& b = mesh_->point(to);
  const std::int32_t first = triangle_of_[from];
  std::int32_t row = first;
  do {
    const Triangle& t = mesh_->triangle(row);
    const std::uint32_t i = corner_of(t, from);
    const std::int32_t right = t.vertices[next_corner(i)];
    const std::int32_t left = t.vertices[previous_corner(i)];
    if (right >= 0) {
      const int sign = geometry::orient2d(a, b, mesh_->point(right));
      if (sign == 0 && is_ahead(a, b, mesh_->point(right))) return {.edge = {}, .vertex = right};
      if (sign < 0 && left >= 0 && geometry::orient2d(a, b, mesh_->point(left)) > 0)
        return {.edge = Side(row, i), .vertex = -1};
    }
    row = t.neighbours[next_corner(i)].triangle();
  } while (row != first);
  refuse(ErrorCode::internal, "triangulation", "has no way from a vertex to another");
}

std::int32_t SegmentInsertion::cross(std::int32_t from, std::int32_t to, Side first) {
  const Point& a = mesh_->point(from);
  const Point& b = mesh_->point(to);
  Side side = first;
  for (;;) {
    const Triangle& t = mesh_->triangle(side.triangle());
    if (t.is_segment(side.edge())) refuse_crossing(from, to, side);
    crossed_.push_back({t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())]});
    const Side beyond = t.neighbours[side.edge()];
    const Triangle& u = mesh_->triangle(beyond.triangle());
    const std::int32_t apex = u.vertices[beyond.edge()];
    const int sign = geometry::orient2d(a, b, mesh_->point(apex));
    if (sign == 0) return apex;
    // in u the edge leads from the left corner to the right one; the corner on the side of the apex is left behind
    side = Side(beyond.triangle(), sign > 0 ? next_corner(beyond.edge()) : previous_corner(beyond.edge()));
  }
}

void SegmentInsertion::flip_and_note(Side side) noexcept {
  const std::int32_t beyond = mesh_->triangle(side.triangle()).neighbours[side.edge()].triangle();
  flip(*mesh_, side);
  for (const std::int32_t row : {side.triangle(), beyond})
    for (const std::int32_t v : mesh_->triangle(row).vertices)
      if (v >= 0) triangle_of_[v] = row;
}

/// Flip the crossed edges until none is left. An edge waits while its quadrilateral is not convex.
void SegmentInsertion::flip_crossed(std::int32_t from, std::int32_t to) {
  const Point& a = mesh_->point(from);
  const Point& b = mesh_->point(to);
  while (!crossed_.empty()) {
    later_.clear();
    for (const Edge& edge : crossed_) {
      const Side side = find(edge.from, edge.to);
      if (!is_convex(*mesh_, side)) {
        later_.push_back(edge);
        continue;
      }
      flip_and_note(side);
      const Triangle& t = mesh_->triangle(side.triangle());
      const Edge made{t.vertices[0], t.vertices[1]};
      const auto side_of = [&](std::int32_t v) {
        return v == from || v == to ? 0 : geometry::orient2d(a, b, mesh_->point(v));
      };
      if (side_of(made.from) * side_of(made.to) < 0) {
        later_.push_back(made);
      } else {
        made_.push_back(made);
      }
    }
    crossed_.swap(later_);
  }
}

/// Flip edges that earlier flips left non-Delaunay. Source: Lawson 1977
void SegmentInsertion::restore() {
  while (!made_.empty()) {
    const Edge edge = made_.back();
    made_.pop_back();
    const Side side = find(edge.from, edge.to);
    if (!side) continue;  // flipped since
    const Triangle& t = mesh_->triangle(side.triangle());
    const Triangle& u = mesh_->triangle(t.neighbours[side.edge()].triangle());
    if (t.is_segment(side.edge()) || is_outside(t) || is_outside(u) || is_delaunay(*mesh_, side)) continue;
    flip_and_note(side);
    for (const std::int32_t row : {side.triangle(), mesh_->triangle(side.triangle()).neighbours[2].triangle()})
      for (std::uint32_t e = 0; e < 2; ++e)
        made_.push_back(
            {mesh_->triangle(row).vertices[next_corner(e)], mesh_->triangle(row).vertices[previous_corner(e)]});
  }
}

/// Turn around both vertices in step, until one turn meets the edge between them or is complete.
SegmentInsertion::Search SegmentInsertion::search_both(std::int32_t from, std::int32_t to) const {
  const std::int32_t first_at_from = triangle_of_[from];
  const std::int32_t first_at_to = triangle_of_[to];
  std::int32_t at_from = first_at_from;
  std::int32_t at_to = first_at_to;
  do {
    const Triangle& t = mesh_->triangle(at_from);
    const std::uint32_t i = corner_of(t, from);
    if (t.vertices[next_corner(i)] == to) return {.side = Side(at_from, previous_corner(i))};
    at_from = t.neighbours[next_corner(i)].triangle();
    const Triangle& u = mesh_->triangle(at_to);
    const std::uint32_t j = corner_of(u, to);
    if (u.vertices[previous_corner(j)] == from) return {.side = Side(at_to, next_corner(j))};
    at_to = u.neighbours[next_corner(j)].triangle();
  } while (at_from != first_at_from && at_to != first_at_to);
  return {.side = {}, .is_smaller_at_to = at_from != first_at_from};
}

void SegmentInsertion::mark(Side side) noexcept {
  Triangle& t = mesh_->triangle(side.triangle());
  const Side other = t.neighbours[side.edge()];
  t.state |= Triangle::segment_bit(side.edge());
  mesh_->triangle(other.triangle()).state |= Triangle::segment_bit(other.edge());
}

void SegmentInsertion::refuse_crossing(std::int32_t from, std::int32_t to, Side segment) const {
  const Triangle& t = mesh_->triangle(segment.triangle());
  const Point& a = mesh_->point(from);
  const Point& b = mesh_->point(to);
  const Point& c = mesh_->point(t.vertices[next_corner(segment.edge())]);
  const Point& d = mesh_->point(t.vertices[previous_corner(segment.edge())]);
  const double over = (c[0] - a[0]) * (d[1] - c[1]) - (c[1] - a[1]) * (d[0] - c[0]);
  const double under = (b[0] - a[0]) * (d[1] - c[1]) - (b[1] - a[1]) * (d[0] - c[0]);
  const double part = under == 0.0 ? 0.5 : over / under;
  const auto place = [](const Point& p) { return fmt::format("({}, {})", p[0], p[1]); };
  refuse(ErrorCode::bad_input, "segments",
         fmt::format("{} to {} and {} to {} cross at {}", place(a), place(b), place(c), place(d),
                     place({a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])})),
         "add a point at the crossing, and end both segments there");
}

}  // namespace barrio::delaunay::detail
