#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "barrio/base/error.hpp"
#include "barrio/delaunay/audit.hpp"
#include "barrio/delaunay/flat_mesh.hpp"
#include "barrio/files/h5m.hpp"
#include "barrio/files/hdf5.hpp"

namespace barrio::delaunay {
namespace {

AuditedMesh read_from_h5m(const std::string& path) {
  const files::Handle file = files::open_to_read(path);
  const files::H5mCatalog catalog = files::read_h5m_catalog(file.get(), path);
  AuditedMesh mesh;
  const std::vector<double> x = files::read_reals(file.get(), "tstt/nodes/coordinates");
  const std::size_t width = catalog.n_coordinates;
  for (std::int64_t i = 0; i < catalog.n_vertices; ++i) {
    if (width > 2 && x[width * i + 2] != 0.0)
      refuse(ErrorCode::bad_input, path, fmt::format("vertex {} does not lie in the plane z = 0", i),
             "give a triangulation of the plane");
    mesh.points.push_back({x[width * i], x[width * i + 1]});
  }
  for (const files::H5mGroup& group : catalog.groups) {
    const std::string table = fmt::format("tstt/elements/{}/connectivity", group.name);
    const bool is_triangles = group.type == "Tri" && group.n_nodes == 3;
    const bool is_edges = group.type == "Edge" && group.n_nodes == 2;
    if (!is_triangles && !is_edges)
      refuse(ErrorCode::bad_input, path, fmt::format("has {}", group.name), "give triangles of three nodes, and edges");
    const std::vector<std::int64_t> ids = files::read_integers(file.get(), table);
    const auto row = [&](std::size_t i) { return ids[i] - catalog.first_vertex; };
    for (std::size_t i = 0; is_triangles && i + 2 < ids.size(); i += 3)
      mesh.triangles.push_back({row(i), row(i + 1), row(i + 2)});
    for (std::size_t i = 0; is_edges && i + 1 < ids.size(); i += 2) mesh.edges.push_back({row(i), row(i + 1)});
  }
  return mesh;
}

AuditedMesh read_from_ele(const std::string& path) {
  std::vector<std::string> left_out;
  const FlatMesh flat = read_ele(path, left_out);
  AuditedMesh mesh{.points = flat.points};
  for (const auto& [a, b, c] : flat.triangles) mesh.triangles.push_back({a, b, c});
  for (const PlanarGraph::Edge& edge : flat.edges) mesh.edges.push_back({edge.ends[0], edge.ends[1]});
  return mesh;
}

}  // namespace

AuditedMesh read_audited(const std::string& path) {
  return path.ends_with(".ele") ? read_from_ele(path) : read_from_h5m(path);
}

}  // namespace barrio::delaunay
