#include "barrio/delaunay/kernel/refinement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/kernel/quality.hpp"
#include "barrio/delaunay/kernel/traversal.hpp"

namespace barrio::delaunay {
namespace detail {
namespace {

/// Return how near to their edge new points lie, relative to where it is seen under the min angle. Above 30 degrees the
/// nearer places need fewer triangles: found by trying 21 public graphs and fractal coasts.
/// @param min_angle  degrees
constexpr double nearness(double min_angle) noexcept {
  constexpr double usual = 0.98;
  constexpr double at_33 = 0.9;
  return min_angle <= 30 ? usual : usual + (at_33 - usual) * (min_angle - 30) / 3;
}

/// Max number of triangles that `Side` can tell apart.
constexpr std::int64_t max_rows = (std::int64_t{1} << 30) - 1;

/// Tell whether signs are exact for a point: see `triangulate`.
bool is_exact(const Point& p) noexcept {
  return std::ranges::all_of(p, [](double x) { return x == 0.0 || std::abs(x) >= geometry::min_exact; });
}

/// Tell whether the shortest edge has so few ulps that a rounded point misses the min angle: more and more would
/// follow.
bool is_too_fine(const Shape& shape, const Point& near) noexcept {
  constexpr double min_ulps = 128;
  const double shortest =
      min_ulps * std::numeric_limits<double>::epsilon() * std::max(std::abs(near[0]), std::abs(near[1]));
  return shape.squares[shape.shortest] < shortest * shortest;
}

double squared_distance(const Point& a, const Point& b) noexcept {
  const double x = a[0] - b[0];
  const double y = a[1] - b[1];
  return x * x + y * y;
}

/// Tell whether an edge is so short that rounding might keep one of two parts from splitting it.
bool is_short(const Point& a, const Point& b) noexcept {
  constexpr double min_ulps = 1 << 13;
  double largest = 0.0;
  for (const Point& p : {a, b})
    for (const double x : p) largest = std::max(largest, std::abs(x));
  const double shortest = min_ulps * std::numeric_limits<double>::epsilon() * largest;
  return squared_distance(a, b) < shortest * shortest;
}

[[noreturn]] void refuse_interface(const Point& a, const Point& b, const char* cause) {
  refuse(ErrorCode::internal, fmt::format("the piece from ({}, {}) to ({}, {})", a[0], a[1], b[0], b[1]),
         fmt::format("of an interface {} by the other part", cause));
}

}  // namespace

Rectangle rectangle_of(const Triangulation& mesh) noexcept {
  Rectangle domain;
  for (const Triangle& t : mesh.triangles.items())
    for (std::size_t i = 0; t.is_used() && i < 3; ++i) domain.add(mesh.point(t.vertices[i]));
  return domain;
}

Refinement::Refinement(Triangulation& mesh, const RefineOptions& options, PartSetting setting)
    : mesh_(&mesh),
      options_(&options),
      setting_(std::move(setting)),
      insertion_(mesh),
      removal_(mesh),
      queue_(mesh),
      segments_(setting_.segments != nullptr ? setting_.segments : &own_segments_.emplace(mesh)),
      small_angles_(setting_.angles != nullptr ? SmallAngles(mesh, *setting_.angles) : SmallAngles(mesh, *segments_)),
      good_place_(options.min_angle * std::numbers::pi / 180) {
  const double angle = options.min_angle * std::numbers::pi / 180;
  sine_squared_ = std::sin(angle) * std::sin(angle);
  const double lens = std::cos(2 * std::max(angle, setting_.lens_angle * std::numbers::pi / 180));
  lens_ = lens * lens;
  reach_ = options.min_angle > 0 ? nearness(options.min_angle) * 0.5 / std::tan(angle / 2)
                                 : std::numeric_limits<double>::infinity();
  constexpr double usual_angle = 20 * std::numbers::pi / 180;
  flattest_ = 4 / std::tan(std::max(angle, usual_angle));
  if (!options.kept_markers.empty())
    for (const Segment& segment : mesh.segments)
      is_kept_.push_back(segment.input != Segment::interface &&
                                 std::ranges::find(options.kept_markers, segment.marker) != options.kept_markers.end()
                             ? 1
                             : 0);
  constexpr std::int64_t for_any_input = 5'000'000;
  constexpr std::int64_t for_each_vertex = 1000;
  first_limit_ = for_any_input + for_each_vertex * mesh.n_vertices();
  areas_ = setting_.areas;
  if (areas_ == nullptr && (options.area_at || options.size))
    areas_ = &own_areas_.emplace(options.area_at, options.size, rectangle_of(mesh), options.resolution);
  has_bounds_ =
      options.max_area > 0 || areas_ != nullptr ||
      (options.keeps_regions && std::ranges::any_of(mesh.regions, [](const Region& r) { return r.max_area > 0; }));
}

/// Empty the queue before it is destroyed: refinement may have ended early.
Refinement::~Refinement() {
  for (std::int32_t row = queue_.pop(); row >= 0; row = queue_.pop())
    if (!mesh_->triangle(row).is_used()) free_triangle(*mesh_, row);
}

double Refinement::bound_of_area(const Triangle& t) {
  double bound = options_->max_area > 0 ? options_->max_area : std::numeric_limits<double>::infinity();
  if (options_->keeps_regions)
    if (const double of_region = mesh_->regions[t.region()].max_area; of_region > 0) bound = std::min(bound, of_region);
  const auto by_position = [&](double below) {
    return (*areas_)({mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2])}, below);
  };
  if (setting_.area_factor == 1.0) return areas_ == nullptr ? bound : by_position(bound);
  if (areas_ != nullptr) bound = std::min(bound, by_position(std::numeric_limits<double>::infinity()));
  return setting_.area_factor * bound;
}

/// Tell whether the shortest edge joins two segments that meet in a small angle, at equal distances from their common
/// end: no point makes that angle larger. Source: Miller, Pav and Walkington 2003
bool Refinement::is_between_shells(const Triangle& t, std::uint32_t shortest) const noexcept {
  const std::int32_t p = t.vertices[next_corner(shortest)];
  const std::int32_t q = t.vertices[previous_corner(shortest)];
  const VertexInfo of_p = mesh_->info(p);
  const VertexInfo of_q = mesh_->info(q);
  if (of_p.kind() != VertexKind::on_segment || of_q.kind() != VertexKind::on_segment) return false;
  if (of_p.segment() == of_q.segment() || of_p.segment() == no_segment || of_q.segment() == no_segment) return false;
  if (mesh_->segments[of_p.segment()].input == Segment::interface ||
      mesh_->segments[of_q.segment()].input == Segment::interface)
    return false;  // they meet others in angles that are wide enough
  for (const std::int32_t a : mesh_->segments[of_p.segment()].ends) {
    for (const std::int32_t b : mesh_->segments[of_q.segment()].ends) {
      if (a != b) continue;
      const double to_p = squared_distance(mesh_->point(a), mesh_->point(p));
      const double to_q = squared_distance(mesh_->point(a), mesh_->point(q));
      // at equal distances from a, the angle is below 60 degrees if p and q are nearer to each other
      return to_p < 1.002 * to_q && to_q < 1.002 * to_p && squared_distance(mesh_->point(p), mesh_->point(q)) < to_p;
    }
  }
  return false;
}

bool Refinement::needs_angle(const Triangle& t) const {
  return !setting_.needs_angle ||
         setting_.needs_angle({mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2])});
}

/// Tell whether a triangle misses a bound.
/// @param[out] key  order of bad triangles: the squared length of the shortest edge
bool Refinement::is_bad(const Triangle& t, double& key) {
  const Shape shape(mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2]));
  key = shape.squares[shape.shortest];
  if (has_bounds_ && 0.5 * shape.double_area > bound_of_area(t)) {
    ++n_too_large_;
    return true;
  }
  return shape.is_sharper(sine_squared_) && !is_between_shells(t, shape.shortest) && needs_angle(t);
}

/// Tell whether a point lies in the diametral lens of a segment: it sees the segment under an obtuse angle of at least
/// 180 degrees less twice the min angle. Source: Shewchuk 1997, section 3.4.2
bool Refinement::encroaches(const Point& p, const Point& a, const Point& b) const noexcept {
  const Point u{a[0] - p[0], a[1] - p[1]};
  const Point v{b[0] - p[0], b[1] - p[1]};
  const double dot = u[0] * v[0] + u[1] * v[1];
  if (dot >= 0) return false;
  return dot * dot >= lens_ * (u[0] * u[0] + u[1] * u[1]) * (v[0] * v[0] + v[1] * v[1]);
}

/// Tell whether every triangle on a segment would miss its area bound or have a smaller angle. Such a segment is split
/// at once: points added before its own would have to be removed again.
bool Refinement::is_too_long(const Triangle& t, const Point& a, const Point& b) {
  if (!has_bounds_ || squared_distance(a, b) <= flattest_ * bound_of_area(t)) return false;
  ++n_too_large_;
  return true;
}

/// Tell whether an edge lies on a segment that gets no points.
bool Refinement::is_kept(const Triangle& t, std::uint32_t edge) const noexcept {
  const std::uint32_t segment = segments_->find(t.vertices[next_corner(edge)], t.vertices[previous_corner(edge)]);
  return segment != no_segment && is_kept_[segment] != 0;
}

/// Return the interface that an edge is a piece of, or -1.
std::int32_t Refinement::interface_of(Side side) const noexcept {
  const Triangle& t = mesh_->triangle(side.triangle());
  if (setting_.interfaces == nullptr || t.neighbours[side.edge()]) return -1;
  return setting_.interfaces->find(t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())]);
}

/// Tell whether the other part of an interface has split a piece of it.
bool Refinement::must_split(Side side) const noexcept {
  if (setting_.interfaces == nullptr || !setting_.interfaces->has_wanted()) return false;
  const std::int32_t interface = interface_of(side);
  const Triangle& t = mesh_->triangle(side.triangle());
  return interface >= 0 && setting_.interfaces->must_split(*mesh_, interface, t.vertices[next_corner(side.edge())],
                                                           t.vertices[previous_corner(side.edge())]);
}

bool Refinement::may_split(Side side) const noexcept {
  const Triangle& t = mesh_->triangle(side.triangle());
  const std::int32_t interface = interface_of(side);
  if (interface < 0 || setting_.interfaces->segment(interface) < 0) {
    const bool is_boundary = !t.neighbours[side.edge()] && interface < 0;
    if (!options_->splits_segments || (!options_->splits_boundary && is_boundary)) return false;
    if (!is_kept_.empty() && is_kept(t, side.edge())) return false;
  }
  // both parts decide alike: there is no place for rounding
  if (interface >= 0 && is_short(mesh_->point(t.vertices[next_corner(side.edge())]),
                                 mesh_->point(t.vertices[previous_corner(side.edge())])))
    return false;
  return coarse_.empty() ||
         !coarse_.contains(std::minmax(t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())]));
}

void Refinement::note(Side side) {
  const Triangle& t = mesh_->triangle(side.triangle());
  encroached_.push_back({side, t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())]});
}

void Refinement::check_segment(Side side) {
  const Triangle& t = mesh_->triangle(side.triangle());
  if (setting_.interfaces != nullptr && !t.neighbours[side.edge()])
    setting_.interfaces->set_row(t.vertices[next_corner(side.edge())], t.vertices[previous_corner(side.edge())],
                                 side.triangle());
  if (!may_split(side)) return;
  const Point& a = mesh_->point(t.vertices[next_corner(side.edge())]);
  const Point& b = mesh_->point(t.vertices[previous_corner(side.edge())]);
  if ((encroaches(mesh_->point(t.vertices[side.edge()]), a, b) && needs_angle(t)) || is_too_long(t, a, b) ||
      must_split(side))
    note(side);
}

void Refinement::check_triangle(std::int32_t row) {
  const Triangle& t = mesh_->triangle(row);
  for (std::uint32_t e = 0; e < 3; ++e)
    if (t.is_segment(e)) check_segment(Side(row, e));
  // it waits in the place of a triangle that is gone: short edges would wait behind long ones
  if ((t.state & Triangle::queued) != 0) queue_.remove(row);
  double key = 0.0;
  if (is_bad(t, key)) queue_.push(row, key);
}

/// Return where to split a segment: in the middle, or at a power of two from an end where another segment starts in a
/// small angle. Points on both segments then lie on common circles around that end. Source: Ruppert 1995, section 4.5
double Refinement::part_of_split(std::int32_t from, std::int32_t to, std::uint32_t segment) const noexcept {
  const float angle_from = small_angles_.at(segment, from);
  const float angle_to = small_angles_.at(segment, to);
  if (angle_from >= SmallAngles::wide && angle_to >= SmallAngles::wide) return 0.5;
  const double length = std::sqrt(squared_distance(mesh_->point(from), mesh_->point(to)));
  // the power of two between a third and two thirds of the length
  int exponent = 0;
  const bool is_below = std::frexp(length, &exponent) < 0.75;
  const double shell = std::ldexp(1.0, exponent - (is_below ? 2 : 1));
  return angle_to <= angle_from ? 1 - shell / length : shell / length;
}

void Refinement::split_segment(Side side) {
  side = remove_vertices_near(side);
  const Triangle& t = mesh_->triangle(side.triangle());
  // in an order that does not depend on the side: rounding would, and there may be another part beyond
  std::int32_t from = t.vertices[next_corner(side.edge())];
  std::int32_t to = t.vertices[previous_corner(side.edge())];
  if (mesh_->point(to) < mesh_->point(from)) std::swap(from, to);
  const Point a = mesh_->point(from);
  const Point b = mesh_->point(to);
  const std::int32_t interface = interface_of(side);
  const std::int32_t of_interface = interface < 0 ? -1 : setting_.interfaces->segment(interface);
  const std::uint32_t segment = of_interface < 0 ? segments_->find(from, to) : static_cast<std::uint32_t>(of_interface);
  const double part = of_interface < 0 ? part_of_split(from, to, segment) : 0.5;
  const Point p{a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1])};
  const bool is_wanted = interface >= 0 && setting_.interfaces->must_split(*mesh_, interface, from, to);
  if (is_wanted && !setting_.interfaces->is_wanted(interface, p)) refuse_interface(a, b, "was split elsewhere");
  insertion_.find_cavity_at_segment(p, side);
  if (!is_exact(p) || p == a || p == b || !insertion_.is_star(p) || !insertion_.has_sides_in_circle(p)) {
    if (is_wanted) refuse_interface(a, b, "was split, but cannot be split here");
    ++report_.n_left_by_rounding;
    coarse_.insert(std::minmax(from, to));
    return;
  }
  const std::int32_t vertex = make_vertex(*mesh_, p, VertexInfo(VertexKind::on_segment, segment));
  interpolate(*mesh_, vertex, from, to, part);
  if (interface >= 0) setting_.interfaces->split(*mesh_, interface, from, to, vertex);
  ++report_.n_segment_points;
  for (const std::int32_t row : insertion_.fill(vertex)) check_triangle(row);
}

/// Remove the free vertices in the diametral circle of a segment before it is split: they would be too near to its new
/// vertex. Stop at a triangle with a second segment. @return the segment, as an edge of its triangle afterwards.
/// Source: Chew 1993
Side Refinement::remove_vertices_near(Side segment) {
  for (int side = 0; side < 2; ++side) {
    for (;;) {
      const Triangle& t = mesh_->triangle(segment.triangle());
      const std::uint32_t e = segment.edge();
      if (t.is_segment(next_corner(e)) || t.is_segment(previous_corner(e))) break;
      const std::int32_t apex = t.vertices[e];
      const Point& p = mesh_->point(apex);
      const Point& a = mesh_->point(t.vertices[next_corner(e)]);
      const Point& b = mesh_->point(t.vertices[previous_corner(e)]);
      if (mesh_->info(apex).kind() != VertexKind::free) break;
      if ((a[0] - p[0]) * (b[0] - p[0]) + (a[1] - p[1]) * (b[1] - p[1]) >= 0) break;
      const std::int32_t from = t.vertices[next_corner(e)];
      for (const std::int32_t row : removal_.remove(Side(segment.triangle(), e))) {
        check_triangle(row);
        const Triangle& made = mesh_->triangle(row);
        for (std::uint32_t i = 0; i < 3; ++i)
          if (made.vertices[next_corner(i)] == from && made.is_segment(i)) segment = Side(row, i);
      }
      ++report_.n_removed_points;
    }
    const Side other = mesh_->triangle(segment.triangle()).neighbours[segment.edge()];
    if (!other) break;
    segment = other;
  }
  return segment;
}

/// Return the max number of triangles. If none is given, it grows with the work that area bounds ask for: they end by
/// themselves, so what exceeds it comes from angles that are never reached.
std::int64_t Refinement::limit() const noexcept {
  constexpr std::int64_t for_each_too_large = 16;
  if (options_->max_triangles > 0) return std::min(options_->max_triangles, max_rows);
  return std::min(first_limit_ + for_each_too_large * n_too_large_, max_rows);
}

/// Tell whether one more point might make too many triangles, and note it in the report.
bool Refinement::is_full() noexcept {
  if (mesh_->n_triangles() + 2 <= limit()) return false;
  report_.is_complete = false;
  return true;
}

void Refinement::split_segments() {
  while (!encroached_.empty() && !is_full()) {
    const Encroached entry = encroached_.back();
    encroached_.pop_back();
    const Triangle& t = mesh_->triangle(entry.side.triangle());
    const std::uint32_t e = entry.side.edge();
    if (t.is_used() && t.is_segment(e) && t.vertices[next_corner(e)] == entry.from &&
        t.vertices[previous_corner(e)] == entry.to)
      split_segment(entry.side);
  }
}

Refinement::Outcome Refinement::split_triangle(std::int32_t row) {
  const Triangle& t = mesh_->triangle(row);
  const Shape shape(mesh_->point(t.vertices[0]), mesh_->point(t.vertices[1]), mesh_->point(t.vertices[2]));
  const std::uint32_t e = shape.shortest;
  if (is_too_fine(shape, mesh_->point(t.vertices[next_corner(e)]))) {
    ++report_.n_left_by_rounding;
    return Outcome::left;
  }
  const Point p = steiner_point(mesh_->point(t.vertices[next_corner(e)]), mesh_->point(t.vertices[previous_corner(e)]),
                                mesh_->point(t.vertices[e]), reach_);
  const Place place = insertion_.locate(p, row);
  if (place.kind == Place::Kind::vertex || (place.kind == Place::Kind::inside && !is_exact(p))) {
    ++report_.n_left_by_rounding;
    return Outcome::left;
  }
  if (place.kind == Place::Kind::blocked) {
    if (!may_split(place.side)) {
      ++report_.n_left_at_segments;
      return Outcome::left;
    }
    note(place.side);
    return Outcome::again;
  }
  insertion_.find_cavity(p, place.side.triangle());
  const std::size_t n_noted = encroached_.size();
  bool is_stuck = false;
  for (std::size_t k = 0; k < insertion_.ring().size(); ++k) {
    const Insertion::RingEdge& edge = insertion_.ring()[k];
    if ((edge.state & Triangle::segment_bit(0)) == 0) continue;
    if (!encroaches(p, mesh_->point(edge.from), mesh_->point(insertion_.ring_end(k)))) continue;
    note(edge.inside);
    is_stuck = is_stuck || !may_split(edge.inside);
  }
  if (is_stuck) {  // splitting the others would not help
    encroached_.resize(n_noted);
    ++report_.n_left_at_segments;
    return Outcome::left;
  }
  if (encroached_.size() > n_noted) return Outcome::again;
  if (!insertion_.is_star(p)) {
    ++report_.n_left_by_rounding;
    return Outcome::left;
  }
  const std::int32_t vertex = make_vertex(*mesh_, p, VertexInfo(VertexKind::free, no_segment));
  if (static_cast<std::size_t>(vertex) < n_moves_.size()) n_moves_[vertex] = 0;  // those of a vertex that is gone
  interpolate(*mesh_, vertex, mesh_->triangle(place.side.triangle()));
  ++report_.n_free_points;
  for (const std::int32_t made : insertion_.fill(vertex)) check_triangle(made);
  return Outcome::done;
}

void Refinement::run() { run(canonical_order(*mesh_)); }

void Refinement::run(std::span<const std::int32_t> rows) {
  for (const std::int32_t row : rows) check_triangle(row);
  add_points();
  report_.max_triangles = limit();
}

void Refinement::follow_interfaces() {
  for (const std::int32_t row : setting_.interfaces->rows_to_split()) {
    const Triangle& t = mesh_->triangle(row);
    for (std::uint32_t e = 0; e < 3; ++e)
      if (t.is_segment(e) && must_split(Side(row, e))) note(Side(row, e));
  }
  add_points();
  report_.max_triangles = limit();
}

/// Split segments that must be split, and bad triangles, until none is left.
void Refinement::add_points() {
  split_segments();
  constexpr std::uint32_t often = 1U << 14U;
  std::uint32_t n_taken = 0;
  for (std::int32_t row = queue_.pop(); row >= 0; row = queue_.pop()) {
    if (!mesh_->triangle(row).is_used()) {
      free_triangle(*mesh_, row);
      continue;
    }
    if (++n_taken % often == 0 && options_->progress) options_->progress(mesh_->n_triangles());
    double key = 0.0;
    if (!is_bad(mesh_->triangle(row), key)) continue;
    if (options_->moves_points && relocate(row)) continue;
    if (is_full()) return;
    if (split_triangle(row) != Outcome::again) continue;
    const std::int64_t n_before = report_.n_segment_points;
    split_segments();
    // nothing has changed if coordinates are too coarse to split the segment in the way
    const bool has_changed = report_.n_segment_points > n_before;
    const Triangle& t = mesh_->triangle(row);  // or the triangle that replaced it
    if (has_changed && t.is_used() && (t.state & Triangle::queued) == 0) queue_.push(row, key);
  }
}

void check(const RefineOptions& options) {
  if (!(options.min_angle >= 0 && options.min_angle <= 34))
    refuse(ErrorCode::usage, "min angle", fmt::format("is {:g} degrees", options.min_angle), "must be 0 to 34 degrees");
  if (!(options.max_area >= 0))
    refuse(ErrorCode::usage, "max area", fmt::format("is {:g}", options.max_area),
           "must be above 0, or 0 for no bound");
  if (options.max_triangles < 0)
    refuse(ErrorCode::usage, "max triangles", fmt::format("is {}", options.max_triangles),
           "must be above 0, or 0 for a limit by the size of the input");
  if (!(options.resolution >= 0))
    refuse(ErrorCode::usage, "resolution", fmt::format("is {:g}", options.resolution),
           "must be above 0, or 0 for the usual one");
}

}  // namespace detail

RefineReport refine(Triangulation& mesh, const RefineOptions& options) {
  detail::check(options);
  detail::Refinement refinement(mesh, options);
  refinement.run();
  return refinement.report();
}

}  // namespace barrio::delaunay
