#include "barrio/delaunay/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit/chains.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/exact.hpp"
#include "barrio/delaunay/audit/inside.hpp"
#include "barrio/delaunay/audit/joined.hpp"
#include "barrio/delaunay/audit/parts.hpp"
#include "barrio/delaunay/audit/wanted.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::delaunay {
namespace {

using detail::Chains;
using detail::Edge2;
using detail::EdgeTable;
using detail::ExactSigns;
using detail::InsideTest;
using detail::Joined;
using detail::Parts;

std::string place(const Point& p) { return fmt::format("({:.9g}, {:.9g})", p[0], p[1]); }

class Auditor {
 public:
  Auditor(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options)
      : mesh_(mesh), graph_(graph), options_(options) {}

  Audit run() {
    result_.n_points = std::ssize(mesh_.points);
    result_.n_triangles = std::ssize(mesh_.triangles);
    if (!check_rows()) return result_;
    check_orientation();
    edges_.emplace(mesh_);
    if (!check_conformity()) return result_;
    chains_.emplace(mesh_, graph_, *edges_, signs_);
    inside_.emplace(mesh_, boundary_);
    check_points();
    check_segments();
    check_boundary();
    check_delaunay();
    check_area();
    check_euler();
    check_holes();
    check_regions();
    check_angles();
    check_areas();
    check_sizes();
    result_.n_exact = signs_.n_exact();
    return std::move(result_);
  }

 private:
  const Point& point(std::int64_t v) const { return mesh_.points[v]; }
  const Point& corner(std::int64_t t, std::size_t i) const { return point(mesh_.triangles[t][i % 3]); }
  bool report(const char* name, bool is_met, std::string text) {
    result_.checks.push_back({.name = name, .is_met = is_met, .text = std::move(text)});
    return is_met;
  }

  bool check_rows() {
    const std::int64_t n = std::ssize(mesh_.points);
    const auto is_row = [n](std::int64_t v) { return v >= 0 && v < n; };
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (!std::ranges::all_of(mesh_.triangles[t], is_row))
        return report("rows", false, fmt::format("triangle {} has a vertex out of range", t));
    for (const auto& edge : mesh_.edges)
      if (!std::ranges::all_of(edge, is_row)) return report("rows", false, "an edge has a vertex out of range");
    std::vector<char> is_used(mesh_.points.size(), 0);
    for (const auto& triangle : mesh_.triangles)
      for (const std::int64_t v : triangle) is_used[v] = 1;
    for (std::size_t v = 0; v < mesh_.points.size(); ++v) {
      if (!std::isfinite(mesh_.points[v][0]) || !std::isfinite(mesh_.points[v][1]))
        return report("rows", false, fmt::format("vertex {} has coordinates that are not finite", v));
      if (is_used[v] != 0) ++n_used_;
    }
    return report("rows", !mesh_.triangles.empty(),
                  fmt::format("{} vertices, {} triangles", n, mesh_.triangles.size()));
  }

  void check_orientation() {
    for (std::int64_t t = 0; t < std::ssize(mesh_.triangles); ++t) {
      if (signs_.orientation(corner(t, 0), corner(t, 1), corner(t, 2)) > 0) continue;
      report("orientation", false, fmt::format("triangle {} at {} is not counterclockwise", t, place(corner(t, 0))));
      return;
    }
    report("orientation", true, "all counterclockwise");
  }

  bool check_conformity() {
    std::string fault;
    edges_->for_each([&](std::span<const EdgeTable::Use> uses) {
      const bool is_sound = uses.size() == 1 || (uses.size() == 2 && uses[0].is_upward != uses[1].is_upward);
      if (!is_sound && fault.empty())
        fault = fmt::format("{} triangles meet at the edge from {} to {}, or two of them lie on one side", uses.size(),
                            place(point(uses[0].low)), place(point(uses[0].high)));
      if (uses.size() == 1) boundary_.push_back(uses[0]);
    });
    return report(
        "conformity", fault.empty(),
        fault.empty() ? fmt::format("{} edges, {} at the boundary", edges_->n_edges(), boundary_.size()) : fault);
  }

  /// Check that the points of the graph that are not vertices lie outside.
  void check_points() {
    std::int64_t n_outside = 0;
    for (std::size_t i = 0; i < graph_.points.size(); ++i) {
      if (chains_->vertices()[i] >= 0) continue;
      if ((*inside_)(graph_.points[i], signs_)) {
        report("points", false, fmt::format("point {} at {} is missing", i, place(graph_.points[i])));
        return;
      }
      ++n_outside;
    }
    report("points", true, fmt::format("{} of {} points outside", n_outside, graph_.points.size()));
  }

  /// Check that the missing stretches of segments lie outside, by their middles.
  void check_segments() {
    std::string fault = chains_->fault();
    for (const Chains::Gap& gap : chains_->gaps())
      if (fault.empty() && (*inside_)({0.5 * (gap.from[0] + gap.to[0]), 0.5 * (gap.from[1] + gap.to[1])}, signs_))
        fault = fmt::format("segment {} is missing from {} to {}", gap.segment, place(gap.from), place(gap.to));
    report("segments", fault.empty(),
           fault.empty() ? fmt::format("{} in {} pieces, {} outside", graph_.segments.size() - chains_->n_absent(),
                                       chains_->pieces().size(), chains_->n_absent())
                         : fault);
  }

  /// Check that the boundary lies on segments. Without segments it is the convex hull, which is not checked here.
  void check_boundary() {
    for (const EdgeTable::Use& use : boundary_) {
      if (graph_.segments.empty() || chains_->find(use.low, use.high) != nullptr) continue;
      report("boundary", false,
             fmt::format("triangles end at the edge from {} to {}, which lies on no segment", place(point(use.low)),
                         place(point(use.high))));
      return;
    }
    report("boundary", true, fmt::format("{} edges, on segments", boundary_.size()));
  }

  void check_delaunay() {
    std::string fault;
    std::int64_t n = 0;
    edges_->for_each([&](std::span<const EdgeTable::Use> uses) {
      if (uses.size() < 2 || !fault.empty()) return;
      if (chains_->find(uses[0].low, uses[0].high) != nullptr) return;
      ++n;
      const std::int64_t t = uses[0].triangle;
      const Point& across = corner(uses[1].triangle, uses[1].corner);
      if (signs_.in_circle(corner(t, 0), corner(t, 1), corner(t, 2), across) > 0)
        fault = fmt::format("the circle of triangle {} at {} has the vertex {} inside", t, place(corner(t, 0)),
                            place(across));
    });
    report("delaunay", fault.empty() || !options_.is_delaunay,
           fault.empty() ? fmt::format("{} interior edges have empty circles", n) : fault);
  }

  /// Check the area. Triangles that meet along whole edges have exactly the area of their boundary. The area by the
  /// ends of segments differs from it only by the rounding of vertices.
  void check_area() {
    std::vector<Edge2> of_mesh;
    for (const EdgeTable::Use& use : boundary_)
      of_mesh.push_back(use.is_upward ? Edge2{point(use.low), point(use.high)}
                                      : Edge2{point(use.high), point(use.low)});
    const std::vector<Edge2> of_graph = boundary_of_graph();
    result_.area = detail::exact_area(of_mesh);
    if (graph_.segments.empty()) {
      report("area", result_.area > 0, fmt::format("{:.17g}", result_.area));
      return;
    }
    const double difference = detail::exact_difference(of_mesh, of_graph);
    double largest = 0.0;
    for (const Point& p : mesh_.points) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
    // each vertex on a segment is rounded to within half an ulp, and moves the boundary by that along its edges
    double allowed = 0.0;
    for (const Edge2& edge : of_mesh)
      allowed += 4 * std::numeric_limits<double>::epsilon() * largest *
                 std::hypot(edge.to[0] - edge.from[0], edge.to[1] - edge.from[1]);
    report("area", std::abs(difference) <= allowed && result_.area > 0,
           fmt::format("{:.17g}, {:.3g} more than the segments enclose", result_.area, difference));
  }

  /// Return the boundary by the points of the graph alone: one edge between two successive ones on a segment.
  [[nodiscard]] std::vector<Edge2> boundary_of_graph() const {
    std::vector<char> is_input(mesh_.points.size(), 0);
    for (const std::int64_t v : chains_->vertices())
      if (v >= 0) is_input[v] = 1;
    std::vector<Edge2> found;
    std::set<std::array<std::int64_t, 2>> taken;  // a graph may repeat a segment
    std::int64_t start = -1;
    for (const Chains::Piece& piece : chains_->pieces()) {
      if (is_input[piece.from] != 0) start = piece.from;
      if (is_input[piece.to] == 0) continue;
      const auto uses = edges_->find(piece.from, piece.to);
      if (uses.size() != 1 || !taken.insert({std::min(start, piece.to), std::max(start, piece.to)}).second) continue;
      const bool is_forward = uses[0].is_upward == (piece.from < piece.to);
      found.push_back(is_forward ? Edge2{point(start), point(piece.to)} : Edge2{point(piece.to), point(start)});
    }
    return found;
  }

  /// Check Euler's formula. A vertex where parts touch counts once for each part.
  void check_euler() {
    Joined parts(mesh_.triangles.size());
    edges_->for_each([&](std::span<const EdgeTable::Use> uses) {
      if (uses.size() == 2) parts.join(uses[0].triangle, uses[1].triangle);
    });
    // a fan: the corners at a vertex of triangles that share edges there. Each fan counts as a vertex
    Joined corners(3 * mesh_.triangles.size());
    const auto corner_of = [&](std::int64_t t, std::int64_t v) -> std::size_t {
      const auto& triangle = mesh_.triangles[t];
      return 3 * t + (std::ranges::find(triangle, v) - triangle.begin());
    };
    edges_->for_each([&](std::span<const EdgeTable::Use> uses) {
      if (uses.size() != 2) return;
      for (const std::int64_t v : {uses[0].low, uses[0].high})
        corners.join(corner_of(uses[0].triangle, v), corner_of(uses[1].triangle, v));
    });
    const std::int64_t n_fans = corners.count();
    // loops: a boundary edge is joined with the one that starts in the fan where it ends
    std::vector<std::pair<std::size_t, std::size_t>> begins;  // fan, boundary edge
    for (std::size_t i = 0; i < boundary_.size(); ++i) {
      const EdgeTable::Use& use = boundary_[i];
      begins.emplace_back(corners.root(corner_of(use.triangle, use.is_upward ? use.low : use.high)), i);
    }
    std::ranges::sort(begins);
    Joined loops(boundary_.size());
    for (std::size_t i = 0; i < boundary_.size(); ++i) {
      const EdgeTable::Use& use = boundary_[i];
      const std::size_t fan = corners.root(corner_of(use.triangle, use.is_upward ? use.high : use.low));
      const auto next = std::ranges::lower_bound(begins, std::pair{fan, std::size_t{0}});
      if (next != begins.end() && next->first == fan) loops.join(i, next->second);
    }
    const std::int64_t number = n_fans - edges_->n_edges() + std::ssize(mesh_.triangles);
    const std::int64_t wanted = 2 * parts.count() - loops.count();
    const std::int64_t n_stray = std::ssize(mesh_.points) - n_used_;
    report(
        "euler", number == wanted && n_stray == 0,
        fmt::format("{} - {} + {} = {}; {} parts and {} loops require {}; {} vertices without triangles", n_fans,
                    edges_->n_edges(), mesh_.triangles.size(), number, parts.count(), loops.count(), wanted, n_stray));
  }

  void check_holes() {
    for (const Point& hole : graph_.holes) {
      if (!(*inside_)(hole, signs_)) continue;
      report("holes", false, fmt::format("the hole at {} is filled", place(hole)));
      return;
    }
    report("holes", true, fmt::format("{} are empty", graph_.holes.size()));
  }

  /// Check that regions lie where the graph has them and, with `sides`, that nothing lies outside.
  void check_regions() {
    if (graph_.regions.empty() && graph_.sides.empty()) return;
    parts_.emplace(mesh_, graph_, *edges_, *chains_);
    parts_->find_regions(signs_);
    report("regions", parts_->fault().empty(),
           parts_->fault().empty() ? fmt::format("{} parts have their region", parts_->n_named()) : parts_->fault());
  }

  /// Return the bound of a triangle's area; infinite if there is none.
  [[nodiscard]] double bound_of_area(std::int64_t t) {
    double bound = options_.max_area > 0 ? options_.max_area : std::numeric_limits<double>::infinity();
    if (options_.keeps_regions && parts_)
      if (const std::int32_t region = parts_->region(t); region > 0)
        if (const double most = graph_.regions[region - 1].max_area; most > 0) bound = std::min(bound, most);
    if (!options_.area_at && !options_.size) return bound;
    Point centroid{};
    for (std::size_t i = 0; i < 3; ++i)
      for (std::size_t k = 0; k < 2; ++k) centroid[k] += corner(t, i)[k] / 3;
    if (options_.area_at) bound = std::min(bound, options_.area_at(centroid));
    const double size = options_.size(centroid);
    return std::min(bound, 0.25 * std::numbers::sqrt3 * size * size);
  }

  void check_angles() {
    double least = 180.0;
    std::int64_t n_below = 0;
    std::int64_t n_explained = 0;
    std::string fault;
    for (std::int64_t t = 0; t < std::ssize(mesh_.triangles); ++t) {
      double smallest = 180.0;
      std::size_t where = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        const Point& p = corner(t, i);
        const Point& q = corner(t, i + 1);
        const Point& r = corner(t, i + 2);
        const double cross = (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]);
        const double dot = (q[0] - p[0]) * (r[0] - p[0]) + (q[1] - p[1]) * (r[1] - p[1]);
        const double angle = std::atan2(cross, dot) * 180 / std::numbers::pi;
        if (angle >= smallest) continue;
        smallest = angle;
        where = i;
      }
      least = std::min(least, smallest);
      constexpr double rounding = 1e-6;
      if (smallest >= options_.min_angle - rounding) continue;
      ++n_below;
      if (is_at_small_angle(t, where)) {
        ++n_explained;
      } else if (fault.empty()) {
        fault = fmt::format("triangle {} has {:.4f} degrees at {}", t, smallest, place(corner(t, where)));
      }
    }
    result_.min_angle = least;
    report("angles", fault.empty(),
           fault.empty() ? fmt::format("min {:.4f} degrees; {} below {:g} where segments meet in small angles", least,
                                       n_explained, options_.min_angle)
                         : fmt::format("{}, and {} more", fault, n_below - n_explained - 1));
  }

  /// Return the segments that a vertex lies on, ends included.
  [[nodiscard]] std::vector<std::size_t> segments_at(std::int64_t v) const {
    std::vector<std::size_t> found;
    const auto [first, last] =
        std::ranges::equal_range(pieces_at_, v, {}, &std::pair<std::int64_t, std::size_t>::first);
    for (auto i = first; i != last; ++i) found.push_back(i->second);
    return found;
  }
  /// Tell whether the angle at a corner lies opposite an edge that joins two segments which meet in a small angle. No
  /// points can make such an angle larger.
  [[nodiscard]] bool is_at_small_angle(std::int64_t t, std::size_t i) {
    if (pieces_at_.empty()) {
      for (const Chains::Piece& piece : chains_->pieces()) {
        pieces_at_.emplace_back(piece.from, piece.segment);
        pieces_at_.emplace_back(piece.to, piece.segment);
      }
      std::ranges::sort(pieces_at_);
    }
    const auto& triangle = mesh_.triangles[t];
    for (const std::size_t s : segments_at(triangle[(i + 1) % 3]))
      for (const std::size_t r : segments_at(triangle[(i + 2) % 3]))
        if (s != r && meet_in_small_angle(s, r)) return true;
    return false;
  }
  /// Tell whether an end of a segment lies on another one, ends included.
  [[nodiscard]] bool touches(std::size_t s, std::size_t r) {
    const Point& a = end_of(r, 0);
    const Point& b = end_of(r, 1);
    for (std::size_t e = 0; e < 2; ++e) {
      const Point& p = end_of(s, e);
      if (p == a || p == b) return true;
      const double along = (p[0] - a[0]) * (b[0] - a[0]) + (p[1] - a[1]) * (b[1] - a[1]);
      const double whole = (b[0] - a[0]) * (b[0] - a[0]) + (b[1] - a[1]) * (b[1] - a[1]);
      if (along > 0 && along < whole && signs_.orientation(a, b, p) == 0) return true;
    }
    return false;
  }
  [[nodiscard]] bool meet_in_small_angle(std::size_t s, std::size_t r) {
    if (!touches(s, r) && !touches(r, s)) return false;
    const Point u{end_of(s, 1)[0] - end_of(s, 0)[0], end_of(s, 1)[1] - end_of(s, 0)[1]};
    const Point v{end_of(r, 1)[0] - end_of(r, 0)[0], end_of(r, 1)[1] - end_of(r, 0)[1]};
    constexpr double small = std::numbers::pi / 3 + 1e-9;
    return std::atan2(std::abs(u[0] * v[1] - u[1] * v[0]), std::abs(u[0] * v[0] + u[1] * v[1])) <= small;
  }
  [[nodiscard]] const Point& end_of(std::size_t segment, std::size_t which) const {
    return graph_.points[graph_.segments[segment].ends[which]];
  }

  void check_areas() {
    // the bound by a formula depends on how centroids are rounded
    const double rounding = options_.area_at || options_.size ? 1 + 1e-9 : 1 + 1e-12;
    double wanted = 0.0;  // number of triangles if each were as large as its bound
    std::string fault;
    std::int64_t n_too_large = 0;
    for (std::int64_t t = 0; t < std::ssize(mesh_.triangles); ++t) {
      const Point& p = corner(t, 0);
      const double area = 0.5 * ((corner(t, 1)[0] - p[0]) * (corner(t, 2)[1] - p[1]) -
                                 (corner(t, 1)[1] - p[1]) * (corner(t, 2)[0] - p[0]));
      result_.max_area = std::max(result_.max_area, area);
      const double bound = bound_of_area(t);
      wanted += area / bound;
      if (area <= bound * rounding) continue;
      ++n_too_large;
      if (fault.empty()) fault = fmt::format("triangle {} at {} has {:.6g} of {:.6g}", t, place(p), area, bound);
    }
    if (wanted > 0) result_.yardstick = static_cast<double>(result_.n_triangles) / wanted;
    std::string text = fmt::format("max {:.6g}", result_.max_area);
    if (options_.max_area > 0) text += fmt::format(" of {:.6g}", options_.max_area);
    if (wanted > 0)
      text += fmt::format("; {:.3f} times as many triangles as if each were as large as its bound", result_.yardstick);
    report("areas", fault.empty(), fault.empty() ? text : fmt::format("{}, and {} more", fault, n_too_large - 1));
  }

  /// Check that no triangle lies where many are wanted: centroids alone do not see narrow places.
  void check_sizes() {
    if (!options_.area_at && !options_.size) return;
    constexpr double max_wanted = 16;
    const detail::Wanted found = detail::sample_sizes(mesh_, options_);
    const bool is_met = found.max < max_wanted;
    std::string text =
        fmt::format("at {} samples, at most {:.2f} triangles are wanted where one is", found.n_samples, found.max);
    if (!is_met)
      text = fmt::format("triangle {} lies where {:.0f} are wanted, the smallest at {}", found.triangle, found.max,
                         place(found.place));
    report("sizes", is_met, std::move(text));
  }

  const AuditedMesh& mesh_;
  const PlanarGraph& graph_;
  const AuditOptions& options_;
  Audit result_;
  ExactSigns signs_;
  std::optional<EdgeTable> edges_;
  std::optional<Chains> chains_;
  std::optional<InsideTest> inside_;
  std::optional<Parts> parts_;
  std::vector<EdgeTable::Use> boundary_;
  std::vector<std::pair<std::int64_t, std::size_t>> pieces_at_;  // vertex, segment
  std::int64_t n_used_ = 0;
};

}  // namespace

bool Audit::passes() const noexcept { return std::ranges::all_of(checks, &Check::is_met); }

Audit audit(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options) {
  return Auditor(mesh, graph, options).run();
}

AuditedMesh audited(const Triangulation& mesh) {
  AuditedMesh result;
  result.points.assign(mesh.points.items().begin(), mesh.points.items().end());
  for (const Triangle& t : mesh.triangles.items())
    if (t.is_used()) result.triangles.push_back({t.vertices[0], t.vertices[1], t.vertices[2]});
  for (const SegmentEdge& edge : segment_edges(mesh)) result.edges.push_back({edge.ends[0], edge.ends[1]});
  return result;
}

Json to_json(const Audit& audit) {
  Json checks = Json::array();
  for (const Audit::Check& check : audit.checks)
    checks.push_back({{"check", check.name}, {"met", check.is_met}, {"text", check.text}});
  return {{"passes", audit.passes()},     {"checks", checks},
          {"points", audit.n_points},     {"triangles", audit.n_triangles},
          {"exact_signs", audit.n_exact}, {"min_angle", audit.min_angle},
          {"area", audit.area},           {"max_area", audit.max_area},
          {"yardstick", audit.yardstick}};
}

}  // namespace barrio::delaunay
