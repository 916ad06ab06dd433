#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "barrio/base/json.hpp"
#include "barrio/delaunay/planar_graph.hpp"
#include "barrio/delaunay/triangulation.hpp"

namespace barrio::delaunay {

/// Triangles as they stand in a file.
struct AuditedMesh {
  std::vector<Point> points = {};
  std::vector<std::array<std::int64_t, 3>> triangles = {};  ///< rows of points
  std::vector<std::array<std::int64_t, 2>> edges = {};      ///< those that are said to lie on segments
};

/// Read the triangles and edges of a .h5m file, whoever wrote it, or of STEM.ele with STEM.node and STEM.poly. Local.
/// @throws Error{failed}, {bad_input}: cells other than triangles and edges, points out of the plane
[[nodiscard]] AuditedMesh read_audited(const std::string& path);

/// The same of a triangulation in memory.
[[nodiscard]] AuditedMesh audited(const Triangulation& mesh);

struct AuditOptions {
  double min_angle = 0.0;     ///< degrees; triangles below it are faults but where segments meet in small angles
  double max_area = 0.0;      ///< 0: no bound
  bool keeps_regions = true;  ///< whether bounds of regions count
  std::function<double(const Point&)> area_at = {};  ///< as RefineOptions::area_at
  bool is_delaunay = true;                           ///< whether triangles have to be constrained Delaunay
};

/// What an audit has found.
struct Audit {
  struct Check {
    std::string name;  ///< "orientation", "conformity", "points", "segments", "boundary", "delaunay", "area", ...
    bool is_met = true;
    std::string text = {};  ///< what was measured, or the first fault with its place
  };
  std::vector<Check> checks;
  std::int64_t n_points = 0;
  std::int64_t n_triangles = 0;
  std::int64_t n_exact = 0;  ///< signs that needed exact arithmetic
  double min_angle = 0.0;    ///< degrees
  double area = 0.0;
  double largest_area = 0.0;  ///< of a triangle
  double yardstick =
      0.0;  ///< triangles by the sum of area over bound: about 1.55 where all are as large as they may be

  [[nodiscard]] bool passes() const noexcept;
};

/// Check a triangulation of a graph, believing nothing: triangles are counterclockwise and meet along whole edges; all
/// points and segments are there, and nothing ends but at segments; it is constrained Delaunay; the area is that of the
/// graph; components, loops, vertices, edges and triangles fit Euler's formula; holes and regions are where they are
/// wanted; angles and areas are in their bounds. It shares no code with the triangulation: edges are found by sorting,
/// signs by long doubles and GMP's fractions. Local. Cost: O(n log n), about 100 bytes a triangle
[[nodiscard]] Audit audit(const AuditedMesh& mesh, const PlanarGraph& graph, const AuditOptions& options = {});

[[nodiscard]] Json to_json(const Audit& audit);

}  // namespace barrio::delaunay
