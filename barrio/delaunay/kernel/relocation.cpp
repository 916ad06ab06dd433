// Refinement with fewer points: before a point is added, a vertex of the bad triangle moves to where this triangle is
// good and those around it that are good stay so, if there is such a position.
#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "barrio/delaunay/kernel/flips.hpp"
#include "barrio/delaunay/kernel/quality.hpp"
#include "barrio/delaunay/kernel/refinement.hpp"

namespace barrio::delaunay::detail {
namespace {

constexpr std::size_t max_ring = 12;   // edges around a vertex that moves
constexpr std::uint8_t max_moves = 8;  // of a vertex: without a limit, vertices could move for ever

}  // namespace

/// Move a vertex of a bad triangle so that the triangle becomes good. @return whether there is such a vertex
bool Refinement::relocate(std::int32_t row) {
  const Triangle t = mesh_->triangle(row);
  const Shape shape(mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2]));
  if (!shape.is_sharper(sine_squared_)) return false;  // too large: only a new point helps
  const std::uint32_t s = shape.shortest;
  return std::ranges::any_of(std::array{next_corner(s), previous_corner(s), s},
                             [&](std::uint32_t i) { return move_vertex(Side(row, i)); });
}

/// List the triangles around a free vertex, counterclockwise. @return whether there are few
bool Refinement::find_star(Side corner) {
  const std::int32_t vertex = mesh_->triangle(corner.triangle()).vertices[corner.edge()];
  star_.clear();
  std::int32_t row = corner.triangle();
  do {
    const Triangle& t = mesh_->triangle(row);
    star_.push_back(Side(row, corner_of(t, vertex)));
    row = t.neighbours[next_corner(star_.back().edge())].triangle();
  } while (row != corner.triangle() && star_.size() <= max_ring);
  return star_.size() <= max_ring;
}

bool Refinement::move_vertex(Side corner) {
  const std::int32_t vertex = mesh_->triangle(corner.triangle()).vertices[corner.edge()];
  if (mesh_->info(vertex).kind() != VertexKind::free) return false;
  if (static_cast<std::size_t>(vertex) >= n_moves_.size()) n_moves_.resize(mesh_->points.size(), 0);
  if (n_moves_[vertex] >= max_moves || !find_star(corner)) return false;
  good_place_.clear();
  wanted_.clear();
  for (const Side side : star_) {
    const Triangle& t = mesh_->triangle(side.triangle());
    const Point& a = mesh_->point(t.vertices[next_corner(side.edge())]);
    const Point& b = mesh_->point(t.vertices[previous_corner(side.edge())]);
    const double max_area = has_bounds_ ? bound_of_area(t) : std::numeric_limits<double>::infinity();
    double key = 0.0;
    const bool is_other = side.triangle() != corner.triangle();
    wanted_.push_back(is_other && is_bad(t, key)                                                ? Wanted::any
                      : is_other && Shape(mesh_->point(vertex), a, b).is_sharper(sine_squared_) ? Wanted::no_worse
                                                                                                : Wanted::good);
    if (wanted_.back() == Wanted::good)
      good_place_.add(a, b, max_area);
    else
      good_place_.add_side(a, b);
  }
  const std::optional<Point> found = good_place_.find();
  if (!found || !is_better_at(*found, mesh_->point(vertex))) return false;
  move_attributes(vertex, *found);
  mesh_->points[vertex] = *found;
  ++n_moves_[vertex];
  ++report_.n_moved_points;
  restore_star();
  return true;
}

/// Tell whether the triangles of the star would be as wanted with its vertex at p, and no segment encroached.
bool Refinement::is_better_at(const Point& p, const Point& now) const {
  for (std::size_t i = 0; i < star_.size(); ++i) {
    const Triangle& t = mesh_->triangle(star_[i].triangle());
    const Point& a = mesh_->point(t.vertices[next_corner(star_[i].edge())]);
    const Point& b = mesh_->point(t.vertices[previous_corner(star_[i].edge())]);
    if (geometry::orient2d(a, b, p) <= 0) return false;
    const Shape shape(p, a, b);
    if (wanted_[i] == Wanted::good && shape.is_sharper(sine_squared_)) return false;
    if (wanted_[i] == Wanted::no_worse && shape.sharpness() < Shape(now, a, b).sharpness()) return false;
    if (t.is_segment(star_[i].edge()) && encroaches(p, a, b)) return false;
  }
  return true;
}

/// Give a vertex the attributes of the position it moves to: linear in the triangle of its star that contains it.
void Refinement::move_attributes(std::int32_t vertex, const Point& p) {
  const std::size_t width = mesh_->attribute_width();
  if (width == 0) return;
  const Point& centre = mesh_->point(vertex);
  for (const Side side : star_) {
    const Triangle& t = mesh_->triangle(side.triangle());
    const Point& a = mesh_->point(t.vertices[next_corner(side.edge())]);
    const Point& b = mesh_->point(t.vertices[previous_corner(side.edge())]);
    if (geometry::orient2d(centre, a, p) < 0 || geometry::orient2d(centre, b, p) > 0) continue;
    const Triangle around = t;
    const std::int32_t made = make_vertex(*mesh_, p, VertexInfo(VertexKind::free, no_segment));
    interpolate(*mesh_, made, around);
    for (std::size_t k = 0; k < width; ++k)
      mesh_->attribute_values[vertex * width + k] = mesh_->attribute_values[made * width + k];
    free_vertex(*mesh_, made);
    return;
  }
}

/// Flip edges around a star whose vertex has moved until the triangulation is Delaunay again, and check what changed.
void Refinement::restore_star() {
  std::vector<Side>& suspects = suspects_;
  suspects.clear();
  changed_.clear();
  for (const Side side : star_) {
    changed_.push_back(side.triangle());
    for (std::uint32_t e = 3; e-- > 0;) suspects.emplace_back(side.triangle(), e);
  }
  while (!suspects.empty()) {
    const Side side = suspects.back();
    suspects.pop_back();
    const Triangle& t = mesh_->triangle(side.triangle());
    const Side other = t.neighbours[side.edge()];
    if (!other || t.is_segment(side.edge()) || is_delaunay(*mesh_, side)) continue;
    flip(*mesh_, side);
    for (const std::int32_t row : {side.triangle(), other.triangle()}) {
      changed_.push_back(row);
      for (std::uint32_t e = 0; e < 2; ++e) suspects.emplace_back(row, e);
    }
  }
  for (const std::int32_t row : changed_) check_triangle(row);
}

}  // namespace barrio::delaunay::detail
