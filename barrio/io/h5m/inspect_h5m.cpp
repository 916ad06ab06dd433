#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/files/h5m.hpp"
#include "barrio/files/hdf5.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/common/readers.hpp"
#include "barrio/mesh/topology.hpp"

namespace barrio::io::detail {
namespace {

using mesh::CellType;

void add_cells(hid_t file, const files::H5mGroup& group, std::int64_t first_vertex, const std::vector<Point>& points,
               Quality& quality) {
  const CellType type = *cell_type_of(group.type);
  const std::string where = "/tstt/elements/" + group.name;
  const auto nodes = files::read_integers(file, where + "/connectivity");
  std::vector<std::int64_t> ends;
  if (group.n_nodes == 0) ends = files::read_integers(file, where + "/poly_indices");  // as many as group.n
  std::vector<Point> corners;
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < group.n; ++i) {
    const std::size_t end = group.n_nodes > 0 ? begin + group.n_nodes : static_cast<std::size_t>(ends[i]) + 1;
    corners.clear();
    const std::size_t n = end < begin ? 0 : mesh::n_corners(type, end - begin);
    if (end < begin || end > nodes.size() || n > end - begin) {
      throw Error(ErrorCode::bad_input,
                  {.subject = where,
                   .cause = fmt::format("element {} has {} nodes", i, static_cast<std::int64_t>(end - begin)),
                   .remedy = damaged_remedy});
    }
    for (std::size_t k = begin; k < begin + n; ++k) {
      if (nodes[k] < first_vertex || nodes[k] - first_vertex >= std::ssize(points))
        throw Error(
            ErrorCode::bad_input,
            {.subject = where, .cause = fmt::format("element {} has vertex {}, which does not exist", i, nodes[k])});
      corners.push_back(points[nodes[k] - first_vertex]);
    }
    if (!corners.empty()) quality.add(type, corners);
    begin = end;
  }
}

}  // namespace

Json inspect_h5m(const std::string& path, const InspectOptions& options) {
  const files::Handle file = files::open_to_read(path);
  const files::H5mCatalog catalog = files::read_h5m_catalog(file.get(), path);
  static_cast<void>(files::read_h5m_set_list(file.get(), catalog, path));  // checks that the set table is sound
  Json result;
  result["format"] = "h5m";
  result["vertices"] = catalog.n_vertices;
  CellCounts counts;
  Json unsupported = Json::array();
  mesh::Dim top = mesh::Dim::vertex;
  for (const files::H5mGroup& group : catalog.groups) {
    const auto type = cell_type_of(group.type);
    if (!type) {
      unsupported.push_back(fmt::format("{} elements of type '{}'", group.n, group.type));
      continue;
    }
    counts[{*type, group.n_nodes}] += group.n;
    if (group.n > 0) top = std::max(top, mesh::topology(*type).dim);
  }
  add_entities(result, counts);
  if (!unsupported.empty()) result["unsupported"] = unsupported;

  Json sets{{"total", catalog.n_sets},
            {"parts", files::read_h5m_set_tag(file.get(), catalog, default_partition_tag).size()}};
  result["partitions"] = Json::array();
  for (const PartitionTag& tag : find_partition_tags(file.get(), catalog))
    result["partitions"].push_back({{"tag", tag.name}, {"parts", tag.n_parts}});
  const auto names = files::read_h5m_set_names(file.get(), catalog);
  Json named = Json::array();
  for (const SetTag& tag : set_tags) {
    const auto marked = files::read_h5m_set_tag(file.get(), catalog, tag.name);
    sets[std::string(mesh::name(tag.kind))] = marked.size();
    if (tag.kind == mesh::SetKind::geometry) continue;
    for (const files::H5mSetValue& entry : marked) {
      const auto at = std::lower_bound(names.begin(), names.end(), std::pair(entry.set, std::string()));
      named.push_back({{"kind", mesh::name(tag.kind)},
                       {"id", entry.value},
                       {"name", at != names.end() && at->first == entry.set ? at->second : ""}});
    }
  }
  result["sets"] = sets;
  result["named_sets"] = named;
  result["tags"] = Json::array();
  for (const files::H5mTag& tag : catalog.tags) {
    result["tags"].push_back({{"name", tag.name},
                              {"type", tag.type.empty() ? "unknown" : tag.type},
                              {"storage", tag.storage},
                              {"variable_length", tag.is_variable},
                              {"sparse_values", tag.n_sparse},
                              {"dense_on", tag.dense_on}});
  }
  if (!has_quality(catalog.n_vertices, options)) return result;
  const std::size_t width = catalog.n_coordinates;
  const auto x = files::read_reals(file.get(), "/tstt/nodes/coordinates");
  std::vector<Point> points(x.size() / width, Point{});
  for (std::size_t i = 0; i < x.size(); ++i) points[i / width][i % width] = x[i];
  add_box(result, points);
  Quality quality;
  for (const files::H5mGroup& group : catalog.groups) {
    const auto type = cell_type_of(group.type);
    if (type && mesh::topology(*type).dim == top && *type != CellType::polyhedron)  // polyhedra are lists of faces
      add_cells(file.get(), group, catalog.first_vertex, points, quality);
  }
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

}  // namespace barrio::io::detail
