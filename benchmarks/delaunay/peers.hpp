#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::bench {

/// Time and result of a mesher.
struct MesherRun {
  double seconds = 0.0;
  std::int64_t n_triangles = 0;
};

/// Return why Triangle is missing; empty if it is built in.
[[nodiscard]] std::string why_no_triangle();
/// Triangulate and refine with Shewchuk's Triangle, 1.6.
[[nodiscard]] MesherRun run_triangle(const delaunay::PlanarGraph& graph, double min_angle, double max_area);
/// Triangulate points with Triangle.
[[nodiscard]] MesherRun run_triangle(std::span<const delaunay::Point> points);

/// Return why CGAL is missing; empty if it is built in.
[[nodiscard]] std::string why_no_cgal();
/// Triangulate points with CGAL, with exact predicates and inexact constructions.
[[nodiscard]] MesherRun run_cgal(std::span<const delaunay::Point> points);

/// Return why delabella is missing; empty if it is built in.
[[nodiscard]] std::string why_no_delabella();
/// Triangulate points with delabella, in doubles.
[[nodiscard]] MesherRun run_delabella(std::span<const delaunay::Point> points);

}  // namespace barrio::bench
