#include "barrio/delaunay/kernel/removal.hpp"

#include <cstddef>

#include "barrio/delaunay/kernel/flips.hpp"
#include "barrio/delaunay/kernel/insertion.hpp"

namespace barrio::delaunay::detail {

void Removal::find_edges(Side corner) {
  edges_.clear();
  old_rows_.clear();
  const std::int32_t vertex = mesh_->triangle(corner.triangle()).vertices[corner.edge()];
  region_ = mesh_->triangle(corner.triangle()).region();
  std::int32_t row = corner.triangle();
  do {
    const Triangle& t = mesh_->triangle(row);
    const std::uint32_t i = corner_of(t, vertex);
    edges_.push_back({.from = t.vertices[next_corner(i)], .outside = t.neighbours[i], .is_segment = t.is_segment(i)});
    old_rows_.push_back(row);
    row = t.neighbours[next_corner(i)].triangle();
  } while (row != corner.triangle());
  candidates_.clear();
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    edges_[i].before = i > 0 ? i - 1 : edges_.size() - 1;
    edges_[i].after = i + 1 < edges_.size() ? i + 1 : 0;
    candidates_.push_back(i);
  }
}

/// Tell whether the corner where edge i starts can be cut off: it is convex, and the removed vertex stays on the inner
/// side of the cut. That vertex sees the whole polygon, so nothing else can lie in the triangle.
bool Removal::is_ear(std::size_t i, const Point& centre, int min_sign) const noexcept {
  const Point& a = mesh_->point(edges_[edges_[i].before].from);
  const Point& b = mesh_->point(edges_[i].from);
  const Point& c = mesh_->point(edges_[edges_[i].after].from);
  return geometry::orient2d(a, b, c) > 0 && geometry::orient2d(a, c, centre) >= min_sign;
}

std::size_t Removal::next_ear(const Point& centre) {
  while (!candidates_.empty()) {
    const std::size_t i = candidates_.back();
    candidates_.pop_back();
    if (!edges_[i].is_cut && is_ear(i, centre, 1)) return i;
  }
  // only cuts through the removed vertex itself are left
  std::size_t i = 0;
  while (i + 1 < edges_.size() && (edges_[i].is_cut || !is_ear(i, centre, 0))) ++i;
  return i;
}

/// Store the triangle of corner i in a row, and replace its two edges of the polygon by the third.
void Removal::cut(std::size_t i, std::int32_t row) {
  const Edge second = edges_[i];
  Edge& first = edges_[second.before];
  Triangle& t = mesh_->triangle(row);
  t.vertices = {first.from, second.from, edges_[second.after].from};
  t.neighbours = {second.outside, {}, first.outside};
  t.state = (t.state & Triangle::queued) | Triangle::fresh | region_ |
            (second.is_segment ? Triangle::segment_bit(0) : 0U) | (first.is_segment ? Triangle::segment_bit(2) : 0U);
  if (second.outside) mesh_->triangle(second.outside.triangle()).neighbours[second.outside.edge()] = Side(row, 0);
  if (first.outside) mesh_->triangle(first.outside.triangle()).neighbours[first.outside.edge()] = Side(row, 2);
  first.outside = Side(row, 1);
  first.is_segment = false;
  first.after = second.after;
  edges_[second.after].before = second.before;
  edges_[i].is_cut = true;
  candidates_.push_back(second.after);
  candidates_.push_back(second.before);
  rows_.push_back(row);
}

/// Cut the last triangle, whose third edge exists already.
void Removal::close(std::size_t i, std::int32_t row) {
  const Edge last = edges_[edges_[i].after];
  cut(i, row);
  Triangle& t = mesh_->triangle(row);
  t.neighbours[1] = last.outside;
  if (last.is_segment) t.state |= Triangle::segment_bit(1);
  if (last.outside) mesh_->triangle(last.outside.triangle()).neighbours[last.outside.edge()] = Side(row, 1);
}

void Removal::restore() {
  suspects_.clear();
  for (const std::int32_t row : rows_)
    for (std::uint32_t e = 0; e < 3; ++e) suspects_.emplace_back(row, e);
  while (!suspects_.empty()) {
    const Side side = suspects_.back();
    suspects_.pop_back();
    const Triangle& t = mesh_->triangle(side.triangle());
    const Side other = t.neighbours[side.edge()];
    if (!other || t.is_segment(side.edge()) || (mesh_->triangle(other.triangle()).state & Triangle::fresh) == 0)
      continue;
    if (is_delaunay(*mesh_, side)) continue;
    flip(*mesh_, side);
    for (const std::int32_t row : {side.triangle(), other.triangle()})
      for (std::uint32_t e = 0; e < 2; ++e) suspects_.emplace_back(row, e);
  }
  for (const std::int32_t row : rows_) mesh_->triangle(row).state &= ~Triangle::fresh;
}

const std::vector<std::int32_t>& Removal::remove(Side corner) {
  const std::int32_t vertex = mesh_->triangle(corner.triangle()).vertices[corner.edge()];
  const Point centre = mesh_->point(vertex);
  find_edges(corner);
  rows_.clear();
  std::size_t next_row = 0;
  for (std::size_t n_left = edges_.size(); n_left > 3; --n_left) cut(next_ear(centre), old_rows_[next_row++]);
  std::size_t i = 0;
  while (edges_[i].is_cut) ++i;
  close(i, old_rows_[next_row++]);
  for (; next_row < old_rows_.size(); ++next_row) free_triangle(*mesh_, old_rows_[next_row]);
  free_vertex(*mesh_, vertex);
  restore();
  return rows_;
}

}  // namespace barrio::delaunay::detail
