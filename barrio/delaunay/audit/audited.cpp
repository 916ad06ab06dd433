#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/segment_edges.hpp"

namespace barrio::delaunay {

AuditedMesh audited(const Triangulation& mesh) {
  AuditedMesh result;
  result.points.assign(mesh.points.items().begin(), mesh.points.items().end());
  result.triangles.reserve(mesh.n_triangles());
  const bool has_regions = mesh.regions.size() > 1;
  if (has_regions) {
    result.regions.assign(mesh.regions.begin() + 1, mesh.regions.end());
    result.triangle_regions.reserve(mesh.n_triangles());
  }
  for (const Triangle& t : mesh.triangles.items()) {
    if (!t.is_used()) continue;
    result.triangles.push_back(t.vertices);
    if (has_regions) result.triangle_regions.push_back(static_cast<std::int32_t>(t.region()));
  }
  for (const SegmentEdge& edge : segment_edges(mesh)) {
    result.edges.push_back(edge.ends);
    result.edge_markers.push_back(edge.marker);
  }
  if (!mesh.input_markers.empty()) {
    result.point_markers = mesh.input_markers;
    result.point_markers.resize(mesh.points.size(), 0);
  }
  result.attributes = mesh.attributes;
  result.attribute_values.assign(mesh.attribute_values.items().begin(), mesh.attribute_values.items().end());
  return result;
}

}  // namespace barrio::delaunay
