#pragma once

#include <span>

#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/audit/chains.hpp"
#include "barrio/delaunay/audit/edge_table.hpp"
#include "barrio/delaunay/audit/parts.hpp"

namespace barrio::delaunay::detail {

/// A mesh and its graph, with the tables that checks of labels share.
struct Labelled {
  const AuditedMesh& mesh;
  const PlanarGraph& graph;
  std::span<const PlanarGraph::Edge> segments;  ///< of the graph and of its filled hull
  const EdgeTable& edges;
  const Chains& chains;
  bool fills_hull;
};

/// Check that each listed edge lies on a segment and has its marker, or that of another on the same edge. Sides of a
/// filled hull need no segment. An edge at the boundary whose segment has no marker may have 1, as Triangle sets it.
[[nodiscard]] Audit::Check check_markers(const Labelled& of);

/// Check that points of the graph keep their markers. Vertices without one may have that of an edge, or 1 at the
/// boundary.
[[nodiscard]] Audit::Check check_point_markers(const Labelled& of);

/// Check numbers and attributes of the regions of all triangles.
/// @param parts  of the mesh, with their regions; null if the graph has no regions
[[nodiscard]] Audit::Check check_region_labels(const Labelled& of, Parts* parts);

/// Check the attributes of vertices: equal at the points of the graph, linear between them on segments, and within the
/// range of the graph elsewhere.
[[nodiscard]] Audit::Check check_attributes(const Labelled& of);

}  // namespace barrio::delaunay::detail
