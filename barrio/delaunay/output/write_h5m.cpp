#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/output/attributes.hpp"
#include "barrio/delaunay/output/buffered.hpp"
#include "barrio/delaunay/output/h5m_sets.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/files/h5m_file.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace {

using detail::buffered;
using detail::edge_table;
using detail::RowSet;
using detail::share_attributes;
using detail::triangle_table;
using files::H5mFile;

/// Find the runs of regions and of markers. @pre triangles are sorted by region, edges by marker
std::vector<RowSet> find_sets(const Triangulation& mesh, const std::vector<SegmentEdge>& edges) {
  std::vector<RowSet> sets;
  for (std::int64_t row = 0; row < std::ssize(mesh.triangles); ++row) {
    const std::uint32_t region = mesh.triangles[row].region();
    if (region == 0) continue;
    if (row == 0 || mesh.triangles[row - 1].region() != region)
      sets.push_back({triangle_table, row, 0, mesh.regions[region].number, mesh.regions[region].attribute});
    ++sets.back().count;
  }
  const std::size_t n_regions = sets.size();
  for (std::int64_t row = 0; row < std::ssize(edges); ++row) {
    if (edges[row].marker == 0) continue;
    if (sets.size() == n_regions || sets.back().id != edges[row].marker)
      sets.push_back({edge_table, row, 0, edges[row].marker, 0.0});
    ++sets.back().count;
  }
  return sets;
}

/// Return the name of each set on rank 0.
std::vector<std::string> names_of(const Triangulation& mesh, const std::vector<RowSet>& sets) {
  std::vector<std::string> names;
  for (const RowSet& set : sets) {
    std::string& name = names.emplace_back();
    if (set.table == triangle_table) {
      name = mesh.regions[mesh.triangles[set.first].region()].name;
    } else if (const auto found = std::ranges::find(mesh.marker_names, set.id, &MarkerName::marker);
               found != mesh.marker_names.end()) {
      name = found->name;
    }
  }
  return names;
}

/// Write each attribute as a dense tag on vertices. Collective; the root has the values.
void write_attributes(mpi::Context& context, H5mFile& file, const Triangulation& mesh,
                      const std::vector<Attribute>& attributes) {
  const std::size_t width = mesh.attribute_width();
  std::size_t first = 0;
  for (const Attribute& attribute : attributes) {
    const std::size_t n = attribute.n_components;
    const auto tag = file.make_tag({.name = attribute.name,
                                    .values = {files::H5mValues::Of::float64, attribute.n_components},
                                    .storage = files::H5mNewTag::Storage::dense});
    const auto rows = file.make_dense(tag, H5mFile::vertices);
    if (context.is_root())
      buffered<double>(
          mesh.points.size(),
          [&](std::size_t v, std::vector<double>& values) {
            const auto of_vertex = mesh.attribute_values.items().subspan(v * width + first, n);
            values.insert(values.end(), of_vertex.begin(), of_vertex.end());
          },
          [&](std::int64_t at, std::span<const double> values) {
            file.put_values(rows, at, std::ssize(values) / attribute.n_components, std::as_bytes(values));
          });
    first += n;
  }
}

}  // namespace

void write_h5m(mpi::Context& context, const Triangulation& mesh, const std::string& path) {
  std::vector<SegmentEdge> edges;
  std::vector<RowSet> sets;
  std::array<std::int64_t, 3> sizes{};
  if (context.is_root()) {
    edges = segment_edges(mesh);
    std::ranges::stable_sort(edges, {}, &SegmentEdge::marker);
    sets = find_sets(mesh, edges);
    sizes = {mesh.n_vertices(), mesh.n_triangles(), std::ssize(edges)};
  }
  mpi::broadcast<std::int64_t>(context, sizes);
  mpi::broadcast(context, sets);
  H5mFile file(context, path,
               {.n_vertices = sizes[0],
                .elements = {{.type = "Tri", .n_nodes = 3, .n = sizes[1], .has_short_ids = true},
                             {.type = "Edge", .n_nodes = 2, .n = sizes[2], .has_short_ids = true}},
                .n_sets = std::ssize(sets)});
  if (context.is_root()) {
    const auto first_vertex = static_cast<std::int32_t>(file.first_id(H5mFile::vertices));
    buffered<double>(
        mesh.points.size(),
        [&](std::size_t v, std::vector<double>& x) { x.insert(x.end(), {mesh.points[v][0], mesh.points[v][1], 0.0}); },
        [&](std::int64_t first, std::span<const double> x) { file.put_vertices(first, x); });
    buffered<std::int32_t>(
        mesh.triangles.size(),
        [&](std::size_t t, std::vector<std::int32_t>& ids) {
          for (const std::int32_t v : mesh.triangles[t].vertices) ids.push_back(first_vertex + v);
        },
        [&](std::int64_t first, std::span<const std::int32_t> ids) { file.put_elements(triangle_table, first, ids); });
    buffered<std::int32_t>(
        edges.size(),
        [&](std::size_t e, std::vector<std::int32_t>& ids) {
          for (const std::int32_t v : edges[e].ends) ids.push_back(first_vertex + v);
        },
        [&](std::int64_t first, std::span<const std::int32_t> ids) { file.put_elements(edge_table, first, ids); });
  }
  write_attributes(context, file, mesh, share_attributes(context, mesh));
  detail::write_sets(context, file, sets);
  detail::write_names(context, file, context.is_root() ? names_of(mesh, sets) : std::vector<std::string>(sets.size()));
  file.close();
}

}  // namespace barrio::delaunay
