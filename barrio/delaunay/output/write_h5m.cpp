#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "barrio/delaunay/output/attributes.hpp"
#include "barrio/delaunay/output/buffered.hpp"
#include "barrio/delaunay/segment_edges.hpp"
#include "barrio/delaunay/write.hpp"
#include "barrio/files/h5m_file.hpp"
#include "barrio/mpi/collectives.hpp"

namespace barrio::delaunay {
namespace {

using detail::buffered;
using detail::share_attributes;
using files::H5mFile;

constexpr std::int32_t triangle_table = 0;
constexpr std::int32_t edge_table = 1;

/// A set of the file: consecutive rows of a table.
struct RowSet {
  std::int32_t table = 0;
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int32_t id = 0;  ///< marker or region
  double attribute = 0.0;
};

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

/// Write a tag with a value on some sets. Collective; rank 0 has the values.
template <class T>
void write_set_tag(mpi::Context& context, H5mFile& file, const char* name, files::H5mValues::Of of, T none,
                   const std::vector<std::int64_t>& ids, const std::vector<T>& values) {
  if (ids.empty()) return;
  const auto tag =
      file.make_tag({.name = name, .values = {of, 1}, .default_value = std::as_bytes(std::span<const T>(&none, 1))});
  const auto rows = file.make_sparse(tag, std::ssize(ids));
  if (!context.is_root()) return;
  file.put_ids(rows, 0, ids);
  file.put_values(rows.values, 0, std::ssize(values), std::as_bytes(std::span(values)));
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

/// Write the names of sets, cut to the bytes that the format has for them. Collective; rank 0 has the names.
void write_names(mpi::Context& context, H5mFile& file, const std::vector<std::string>& names) {
  constexpr std::size_t name_bytes = 32;
  std::vector<std::int64_t> ids;
  std::string text;
  std::vector<std::string> cut;
  for (std::size_t s = 0; s < names.size(); ++s) {
    if (names[s].empty()) continue;
    ids.push_back(file.first_set() + static_cast<std::int64_t>(s));
    std::size_t n = std::min(names[s].size(), name_bytes);
    const auto is_within_letter = [&](std::size_t i) { return (names[s][i] & '\xc0') == '\x80'; };  // of UTF-8
    if (n < names[s].size()) {
      cut.push_back(names[s]);
      while (n > 0 && is_within_letter(n)) --n;
    }
    text.append(names[s], 0, n);
    text.resize(ids.size() * name_bytes, '\0');
  }
  std::int64_t n_names = std::ssize(ids);
  mpi::broadcast<std::int64_t>(context, std::span(&n_names, 1));
  if (n_names == 0) return;
  if (!cut.empty())
    context.log().notice(
        fmt::format("the names of {} set(s) are cut to the {} bytes that .h5m files have for them; the first is '{}'",
                    cut.size(), name_bytes, cut[0]));
  const auto tag = file.make_tag({.name = "NAME", .values = {files::H5mValues::Of::opaque, name_bytes}});
  const auto rows = file.make_sparse(tag, n_names);
  if (!context.is_root()) return;
  file.put_ids(rows, 0, ids);
  file.put_values(rows.values, 0, n_names, std::as_bytes(std::span(text)));
}

void write_sets(mpi::Context& context, H5mFile& file, const std::vector<RowSet>& sets) {
  std::vector<std::int64_t> region_sets;
  std::vector<std::int32_t> region_ids;
  std::vector<double> attributes;
  std::vector<std::int64_t> marker_sets;
  std::vector<std::int32_t> markers;
  files::H5mSetList list;
  std::vector<std::int64_t> words;
  for (std::int64_t s = 0; s < std::ssize(sets); ++s) {
    const std::int64_t id = file.first_set() + s;
    words.push_back(file.first_id(sets[s].table) + sets[s].first);
    words.push_back(sets[s].count);
    list.contents_end.push_back(std::ssize(words));
    list.flags.push_back(files::H5mSetList::unique | files::H5mSetList::ranged);
    list.children_end.push_back(0);
    list.parents_end.push_back(0);
    if (sets[s].table == triangle_table) {
      region_sets.push_back(id);
      region_ids.push_back(sets[s].id);
      attributes.push_back(sets[s].attribute);
    } else {
      marker_sets.push_back(id);
      markers.push_back(sets[s].id);
    }
  }
  write_set_tag(context, file, "MATERIAL_SET", files::H5mValues::Of::int32, std::int32_t{-1}, region_sets, region_ids);
  write_set_tag(context, file, "REGION_ATTRIBUTE", files::H5mValues::Of::float64, 0.0, region_sets, attributes);
  write_set_tag(context, file, "NEUMANN_SET", files::H5mValues::Of::int32, std::int32_t{-1}, marker_sets, markers);
  if (sets.empty()) return;
  file.make_sets(list);
  if (context.is_root()) file.put_contents(0, words);
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
  write_sets(context, file, sets);
  write_names(context, file, context.is_root() ? names_of(mesh, sets) : std::vector<std::string>(sets.size()));
  file.close();
}

}  // namespace barrio::delaunay
