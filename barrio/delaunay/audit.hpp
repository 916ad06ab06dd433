#pragma once

/// @file Audit: check any triangulation against its graph, with code of its own.

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/size_field.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Triangles and edges on segments, as a file lists them. Labels that a file does not give are not compared.
struct AuditedMesh {
  std::vector<Point> points = {};                           ///< vertices
  std::vector<std::array<std::int32_t, 3>> triangles = {};  ///< rows of `points`
  std::vector<std::array<std::int32_t, 2>> edges = {};      ///< edges listed as lying on segments
  std::vector<std::int32_t> edge_markers = {};              ///< of each edge; or empty: not given
  std::vector<std::int32_t> point_markers = {};             ///< of each point; or empty: not given
  std::vector<Region> regions = {};                         ///< with the number 0 where a format has none
  /// Of each triangle, its region from 1, or 0 for none; or empty: not given.
  std::vector<std::int32_t> triangle_regions = {};
  /// Of each triangle, its part of the domain; or empty: not given.
  std::vector<std::int32_t> triangle_parts = {};
  std::vector<Attribute> attributes = {};     ///< of points, in the order of `attribute_values`
  std::vector<double> attribute_values = {};  ///< of each point, all components of all attributes
};

/// Read the triangles and edges of a .h5m file from any writer, or of STEM.ele with STEM.node and STEM.poly, with their
/// labels. Local. @throws Error{failed} if a file cannot be read; {bad_input} for malformed files, for cells other than
/// triangles and edges, and for points outside the plane z = 0
[[nodiscard]] AuditedMesh read_audited(const std::string& path);

/// Copy the triangles and edges on segments of a triangulation in memory, with their labels. Local.
[[nodiscard]] AuditedMesh audited(const Triangulation& mesh);

/// Options of `audit`: the demands on a triangulation.
struct AuditOptions {
  double min_angle = 0.0;     ///< degrees; smaller angles are faults, except where segments meet in small angles
  double max_area = 0.0;      ///< 0: no bound
  bool keeps_regions = true;  ///< whether area bounds of regions count
  std::function<double(const Point&)> area_at = {};  ///< as RefineOptions::area_at
  SizeField size = {};                               ///< as RefineOptions::size
  double resolution = 0.0;                           ///< distance of samples of both, as RefineOptions::resolution
  bool is_delaunay = true;                           ///< whether triangles must be constrained Delaunay
  bool in_parts = false;  ///< whether edges between `AuditedMesh::triangle_parts` may be other than Delaunay
  /// Expect triangles in the whole convex hull; without segments they always fill it. As
  /// TriangulateOptions::fills_hull.
  bool fills_hull = false;
};

/// Result of an audit.
struct Audit {
  /// One check, met or not. A check that needs others is left out if they fail.
  struct Check {
    std::string name;       ///< "orientation", "conformity", "points", "segments", "boundary", "markers", "area", ...
    bool is_met = true;     ///< also if there was nothing to compare
    std::string text = {};  ///< measured values, or the first fault with its position
  };
  std::vector<Check> checks;     ///< in the order in which they were made
  std::int64_t n_points = 0;     ///< rows of the mesh, with those that no triangle has
  std::int64_t n_triangles = 0;  ///< rows of the mesh
  std::int64_t n_exact = 0;      ///< signs that needed exact arithmetic
  double min_angle = 0.0;        ///< degrees
  double area = 0.0;             ///< of all triangles, summed exactly; 0 if they do not fit together
  double max_area = 0.0;         ///< of a triangle
  /// Number of triangles over the sum of their area / bound: about 1.55 where area bounds alone set the sizes.
  double yardstick = 0.0;
  std::uint64_t checksum = 0;  ///< of the mesh, see `checksum`

  /// Tell whether all checks are met. Local.
  [[nodiscard]] bool passes() const noexcept;
};

/// Check a triangulation of a graph without trusting it. Triangles are counterclockwise and meet along whole edges. All
/// points and segments are there, and the mesh ends only at segments, or at the convex hull. It is constrained
/// Delaunay. Its area is that of the graph; parts, loops, vertices, edges and triangles satisfy Euler's formula; holes
/// and regions are where the graph has them; markers, attributes and numbers of regions are those of the graph; angles
/// and areas are within their bounds. Sizes are sampled all over each triangle, at other positions than those of the
/// mesher: no triangle may lie where 16 or more are wanted. The checks share no code with the kernel: they find edges
/// by sorting, and signs by long doubles and GMP's fractions. Local. Cost: O(n log n); memory about 60 bytes a
/// triangle, those of the mesh included
[[nodiscard]] Audit audit(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options = {});

/// Return the result as JSON: `passes`, `checks` and the measured values; the checksum as 16 hexadecimal digits. Local.
[[nodiscard]] Json to_json(const Audit& audit);

}  // namespace barrio::delaunay
