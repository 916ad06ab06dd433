#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "barrio/delaunay/planar_graph.hpp"

namespace barrio::bench {

/// What a mesher took and made.
struct MesherRun {
  double seconds = 0.0;
  std::int64_t n_triangles = 0;
};

/// Why there is no Triangle; empty if there is.
[[nodiscard]] std::string why_no_triangle();
/// Triangulate and refine with Shewchuk's Triangle, 1.6.
[[nodiscard]] MesherRun run_triangle(const delaunay::PlanarGraph& graph, double min_angle, double max_area);
/// Triangulate points with it.
[[nodiscard]] MesherRun run_triangle(std::span<const delaunay::Point> points);

/// Why there is no CGAL; empty if there is.
[[nodiscard]] std::string why_no_cgal();
/// Triangulate points with CGAL, its kernel of inexact constructions.
[[nodiscard]] MesherRun run_cgal(std::span<const delaunay::Point> points);

}  // namespace barrio::bench
