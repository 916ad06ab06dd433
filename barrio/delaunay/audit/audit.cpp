#include "barrio/delaunay/audit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "barrio/delaunay/audit/angles.hpp"
#include "barrio/delaunay/audit/chains.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/euler.hpp"
#include "barrio/delaunay/audit/exact.hpp"
#include "barrio/delaunay/audit/hull.hpp"
#include "barrio/delaunay/audit/inside.hpp"
#include "barrio/delaunay/audit/labels.hpp"
#include "barrio/delaunay/audit/parts.hpp"
#include "barrio/delaunay/audit/wanted.hpp"
#include "barrio/delaunay/checksum.hpp"

namespace barrio::delaunay {
namespace {

using detail::Chains;
using detail::Edge2;
using detail::EdgeTable;
using detail::ExactSigns;
using detail::InsideTest;
using detail::Parts;

std::string place(const Point& p) { return fmt::format("({:.9g}, {:.9g})", p[0], p[1]); }

class Auditor {
 public:
  Auditor(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options)
      : mesh_(mesh),
        graph_(graph),
        options_(options),
        fills_hull_(options.fills_hull || graph.segments.empty()),
        segments_(graph.segments) {}

  Audit run() {
    result_.n_points = std::ssize(mesh_.points);
    result_.n_triangles = std::ssize(mesh_.triangles);
    if (!check_rows()) return result_;
    check_orientation();
    edges_.emplace(mesh_);
    if (!check_conformity()) return result_;
    if (fills_hull_) {
      const std::vector<PlanarGraph::Edge> hull = detail::hull_of(graph_.points, signs_);
      segments_.insert(segments_.end(), hull.begin(), hull.end());
    }
    chains_.emplace(mesh_, graph_.points, segments_, fills_hull_, *edges_, boundary_, signs_);
    inside_.emplace(mesh_, boundary_);
    check_points();
    check_segments();
    check_boundary();
    check_delaunay();
    check_area();
    result_.checks.push_back(detail::check_euler(mesh_, *edges_, boundary_, std::ssize(mesh_.points) - n_used_));
    check_holes();
    check_regions();
    check_labels();
    check_angles();
    check_areas();
    check_sizes();
    result_.n_exact = signs_.n_exact();
    result_.checksum = checksum(mesh_);
    return std::move(result_);
  }

 private:
  const Point& point(std::int32_t v) const { return mesh_.points[v]; }
  const Point& corner(std::int64_t t, std::size_t i) const { return point(mesh_.triangles[t][i % 3]); }
  bool report(const char* name, bool is_met, std::string text) {
    result_.checks.push_back({.name = name, .is_met = is_met, .text = std::move(text)});
    return is_met;
  }

  bool check_rows() {
    const std::int64_t n = std::ssize(mesh_.points);
    const auto is_row = [n](std::int32_t v) { return v >= 0 && v < n; };
    if (mesh_.triangles.size() > EdgeTable::max_triangles)
      return report("rows", false, "the mesh has more than 2^30 triangles, which the audit cannot hold");
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t)
      if (!std::ranges::all_of(mesh_.triangles[t], is_row))
        return report("rows", false, fmt::format("triangle {} has a vertex out of range", t));
    for (const auto& edge : mesh_.edges)
      if (!std::ranges::all_of(edge, is_row)) return report("rows", false, "an edge has a vertex out of range");
    if (const char* const fault = fault_of_labels(); fault != nullptr) return report("rows", false, fault);
    std::vector<char> is_used(mesh_.points.size(), 0);
    for (const auto& triangle : mesh_.triangles)
      for (const std::int32_t v : triangle) is_used[v] = 1;
    for (std::size_t v = 0; v < mesh_.points.size(); ++v) {
      if (!std::isfinite(mesh_.points[v][0]) || !std::isfinite(mesh_.points[v][1]))
        return report("rows", false, fmt::format("vertex {} has coordinates that are not finite", v));
      if (is_used[v] != 0) ++n_used_;
    }
    return report("rows", !mesh_.triangles.empty(),
                  fmt::format("{} vertices, {} triangles", n, mesh_.triangles.size()));
  }

  /// Describe labels that do not fit their rows; null if all do.
  [[nodiscard]] const char* fault_of_labels() const {
    const auto has = [](const auto& labels, std::size_t n) { return labels.empty() || labels.size() == n; };
    if (!has(mesh_.edge_markers, mesh_.edges.size())) return "markers are not as many as edges";
    if (!has(mesh_.point_markers, mesh_.points.size())) return "markers are not as many as vertices";
    if (!has(mesh_.triangle_regions, mesh_.triangles.size())) return "regions are not as many as triangles";
    if (mesh_.attribute_values.size() != width_of(mesh_.attributes) * mesh_.points.size())
      return "attributes are not as many as vertices need";
    const std::int64_t n_regions = std::ssize(mesh_.regions);
    if (std::ranges::any_of(mesh_.triangle_regions, [&](std::int32_t row) { return row < 0 || row > n_regions; }))
      return "a triangle has a region out of range";
    return nullptr;
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

  /// Check that the points of the graph that are not vertices lie outside; a point on the boundary must be a vertex.
  void check_points() {
    std::int64_t n_outside = 0;
    for (std::size_t i = 0; i < graph_.points.size(); ++i) {
      if (chains_->vertices()[i] >= 0) continue;
      if (inside_->find(graph_.points[i], signs_) != InsideTest::Place::outside) {
        report("points", false, fmt::format("point {} at {} is missing", i, place(graph_.points[i])));
        return;
      }
      ++n_outside;
    }
    report("points", true, fmt::format("{} of {} points outside", n_outside, graph_.points.size()));
  }

  /// Check that the missing stretches of segments lie outside, by their middles, and that a filled hull has its sides.
  void check_segments() {
    std::string fault = chains_->fault();
    for (const Chains::Gap& gap : chains_->gaps()) {
      // a side of the hull may be missing only where a hole is open to it
      const bool is_side = gap.segment >= graph_.segments.size();
      const Point middle{0.5 * (gap.from[0] + gap.to[0]), 0.5 * (gap.from[1] + gap.to[1])};
      if (fault.empty() && ((is_side && graph_.holes.empty()) || (*inside_)(middle, signs_)))
        fault = fmt::format("{} is missing from {} to {}",
                            is_side ? "a side of the convex hull" : fmt::format("segment {}", gap.segment),
                            place(gap.from), place(gap.to));
    }
    std::int64_t n_pieces = 0;
    std::size_t n_present = 0;
    std::size_t last = segments_.size();
    for (const Chains::Piece& piece : chains_->pieces()) {
      if (piece.segment >= graph_.segments.size()) break;  // sides of the hull come last
      ++n_pieces;
      n_present += std::exchange(last, piece.segment) != piece.segment ? 1 : 0;
    }
    report("segments", fault.empty(),
           fault.empty()
               ? fmt::format("{} in {} pieces, {} outside", n_present, n_pieces, graph_.segments.size() - n_present)
               : fault);
  }

  /// Check that the boundary lies on segments, or on the convex hull.
  void check_boundary() {
    for (const EdgeTable::Use& use : boundary_) {
      if (chains_->find(use.low, use.high) != nullptr) continue;
      report("boundary", false,
             fmt::format("triangles end at the edge from {} to {}, which lies on no segment{}", place(point(use.low)),
                         place(point(use.high)), fills_hull_ ? ", nor on the convex hull" : ""));
      return;
    }
    report("boundary", true,
           fmt::format("{} edges, on segments{}", boundary_.size(), fills_hull_ ? " or the convex hull" : ""));
  }

  /// Check empty circles. An edge between two parts is a constraint here, and only here.
  void check_delaunay() {
    std::string fault;
    std::int64_t n = 0;
    std::int64_t n_between_parts = 0;
    edges_->for_each([&](std::span<const EdgeTable::Use> uses) {
      if (uses.size() < 2 || !fault.empty()) return;
      if (chains_->find(uses[0].low, uses[0].high) != nullptr) return;
      if (options_.in_parts && !mesh_.triangle_parts.empty() &&
          mesh_.triangle_parts[uses[0].triangle] != mesh_.triangle_parts[uses[1].triangle]) {
        ++n_between_parts;
        return;
      }
      ++n;
      const std::int64_t t = uses[0].triangle;
      const Point& across = corner(uses[1].triangle, uses[1].corner);
      if (signs_.in_circle(corner(t, 0), corner(t, 1), corner(t, 2), across) > 0)
        fault = fmt::format("the circle of triangle {} at {} has the vertex {} inside", t, place(corner(t, 0)),
                            place(across));
    });
    report("delaunay", fault.empty() || !options_.is_delaunay,
           fault.empty()
               ? fmt::format("{} interior edges have empty circles{}", n,
                             n_between_parts > 0 ? fmt::format("; {} between parts need not", n_between_parts) : "")
               : fault);
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
    const double difference = detail::exact_difference(of_mesh, of_graph);
    double largest = 0.0;
    for (const Point& p : mesh_.points) largest = std::max({largest, std::abs(p[0]), std::abs(p[1])});
    // each vertex on a segment is rounded to within half an ulp, and moves the boundary by that along its edges
    double allowed = 0.0;
    for (const Edge2& edge : of_mesh)
      allowed += 4 * std::numeric_limits<double>::epsilon() * largest *
                 std::hypot(edge.to[0] - edge.from[0], edge.to[1] - edge.from[1]);
    report("area", std::abs(difference) <= allowed && result_.area > 0,
           fmt::format("{:.17g}, {:.3g} more than the {}", result_.area, difference,
                       fills_hull_ ? "convex hull has" : "segments enclose"));
  }

  /// Return the boundary by the points of the graph alone: one edge between two successive ones on a segment.
  [[nodiscard]] std::vector<Edge2> boundary_of_graph() const {
    std::vector<char> is_input(mesh_.points.size(), 0);
    for (const std::int32_t v : chains_->vertices())
      if (v >= 0) is_input[v] = 1;
    std::vector<Edge2> found;
    std::set<std::array<std::int32_t, 2>> taken;  // a graph may repeat a segment
    std::int32_t start = -1;
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

  void check_labels() {
    const detail::Labelled of{.mesh = mesh_,
                              .graph = graph_,
                              .segments = segments_,
                              .edges = *edges_,
                              .chains = *chains_,
                              .fills_hull = fills_hull_};
    result_.checks.push_back(detail::check_markers(of));
    result_.checks.push_back(detail::check_point_markers(of));
    result_.checks.push_back(detail::check_region_labels(of, parts_ ? &*parts_ : nullptr));
    result_.checks.push_back(detail::check_attributes(of));
  }

  void check_angles() {
    detail::AngleCheck angles(mesh_, graph_.points, segments_, *chains_, signs_);
    result_.checks.push_back(angles.run(options_.min_angle));
    result_.min_angle = angles.smallest();
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
  bool fills_hull_;
  std::vector<PlanarGraph::Edge> segments_;  // of the graph, then sides of its hull if that is filled
  Audit result_;
  ExactSigns signs_;
  std::optional<EdgeTable> edges_;
  std::optional<Chains> chains_;
  std::optional<InsideTest> inside_;
  std::optional<Parts> parts_;
  std::vector<EdgeTable::Use> boundary_;
  std::int64_t n_used_ = 0;
};

}  // namespace

bool Audit::passes() const noexcept { return std::ranges::all_of(checks, &Check::is_met); }

Audit audit(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options) {
  return Auditor(mesh, graph, options).run();
}

Json to_json(const Audit& audit) {
  Json checks = Json::array();
  for (const Audit::Check& check : audit.checks)
    checks.push_back({{"check", check.name}, {"met", check.is_met}, {"text", check.text}});
  return {{"passes", audit.passes()},     {"checks", checks},
          {"points", audit.n_points},     {"triangles", audit.n_triangles},
          {"exact_signs", audit.n_exact}, {"min_angle", audit.min_angle},
          {"area", audit.area},           {"max_area", audit.max_area},
          {"yardstick", audit.yardstick}, {"checksum", fmt::format("{:016x}", audit.checksum)}};
}

}  // namespace barrio::delaunay
