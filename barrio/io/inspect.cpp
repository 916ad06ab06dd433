#include "barrio/io/inspect.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "barrio/io/detail/gmsh_file.hpp"
#include "barrio/io/detail/readers.hpp"
#include "barrio/io/read.hpp"
#include "barrio/mesh/detail/sides.hpp"
#include "barrio/mesh/quality.hpp"

namespace barrio::io {
namespace {

using mesh::CellType;
using Point = std::array<double, 3>;

/// Gathers the extremes of cells of the top dimension.
class Quality {
 public:
  void add(CellType type, std::span<const Point> corners) {
    const mesh::CellShape shape = mesh::cell_shape(type, corners);
    shortest_ = std::min(shortest_, shape.shortest_edge);
    longest_ = std::max(longest_, shape.longest_edge);
    min_ratio_ = std::min(min_ratio_, shape.edge_ratio);
    sum_ratio_ += shape.edge_ratio;
    n_inverted_ += shape.corner_volume <= 0.0 ? 1 : 0;
    n_ += 1;
  }
  [[nodiscard]] std::int64_t n() const noexcept { return n_; }
  [[nodiscard]] Json json() const {
    return Json{{"shortest_edge", shortest_},
                {"longest_edge", longest_},
                {"min_edge_ratio", min_ratio_},
                {"mean_edge_ratio", sum_ratio_ / static_cast<double>(std::max<std::int64_t>(n_, 1))},
                {"inverted", n_inverted_}};
  }

 private:
  double shortest_ = std::numeric_limits<double>::infinity();
  double longest_ = 0.0;
  double min_ratio_ = 1.0;
  double sum_ratio_ = 0.0;
  std::int64_t n_inverted_ = 0;
  std::int64_t n_ = 0;
};

/// Say where the vertices are, and how many are nowhere: minima leave NaN out without a word.
void add_box(Json& result, const std::vector<Point>& points) {
  if (points.empty()) return;
  const auto n_not_finite = std::count_if(points.begin(), points.end(), [](const Point& x) {
    return !std::isfinite(x[0]) || !std::isfinite(x[1]) || !std::isfinite(x[2]);
  });
  if (n_not_finite > 0) result["vertices_not_finite"] = n_not_finite;
  Point low;
  Point high;
  low.fill(std::numeric_limits<double>::infinity());
  high.fill(-std::numeric_limits<double>::infinity());
  for (const Point& x : points) {
    for (std::size_t k = 0; k < 3; ++k) {
      low[k] = std::min(low[k], x[k]);
      high[k] = std::max(high[k], x[k]);
    }
  }
  result["box"] = {{"low", low}, {"high", high}};
}

void add_cells(hid_t file, const files::H5mGroup& group, std::int64_t first_vertex, const std::vector<Point>& points,
               Quality& quality) {
  const CellType type = *detail::cell_type_of(group.type);
  const std::string where = "/tstt/elements/" + group.name;
  const auto nodes = files::read_integers(file, where + "/connectivity");
  std::vector<std::int64_t> ends;
  if (group.n_nodes == 0) ends = files::read_integers(file, where + "/poly_indices");  // as many as group.n
  std::vector<Point> corners;
  std::size_t begin = 0;
  for (std::int64_t i = 0; i < group.n; ++i) {
    const std::size_t end = group.n_nodes > 0 ? begin + static_cast<std::size_t>(group.n_nodes)
                                              : static_cast<std::size_t>(ends[static_cast<std::size_t>(i)] + 1);
    corners.clear();
    const std::size_t n = end < begin ? 0 : mesh::detail::n_corners(type, end - begin);
    if (end < begin || end > nodes.size() || n > end - begin) {
      throw Error(ErrorCode::bad_input,
                  {.subject = where,
                   .cause = fmt::format("element {} has {} nodes", i, static_cast<std::int64_t>(end - begin)),
                   .remedy = "the file is damaged or was written wrongly"});
    }
    for (std::size_t k = begin; k < begin + n; ++k) {
      const std::int64_t row = nodes[k] - first_vertex;
      if (row < 0 || row >= static_cast<std::int64_t>(points.size()))
        throw Error(
            ErrorCode::bad_input,
            {.subject = where, .cause = fmt::format("element {} has vertex {}, which does not exist", i, nodes[k])});
      corners.push_back(points[static_cast<std::size_t>(row)]);
    }
    if (!corners.empty()) quality.add(type, corners);
    begin = end;
  }
}

Json inspect_h5m(const std::string& path, const InspectOptions& options) {
  const files::Handle file = files::open_to_read(path);
  const files::H5mCatalog catalog = files::read_h5m_catalog(file.get(), path);
  static_cast<void>(files::read_h5m_set_list(file.get(), catalog, path));  // checks that the set table is sound
  Json result;
  result["format"] = "h5m";
  result["vertices"] = catalog.n_vertices;
  std::map<CellType, std::int64_t> counts;
  Json unsupported = Json::array();
  mesh::Dim top = mesh::Dim::vertex;
  for (const files::H5mGroup& group : catalog.groups) {
    const auto type = detail::cell_type_of(group.type);
    if (!type) {
      unsupported.push_back(fmt::format("{} elements of type '{}'", group.n, group.type));
      continue;
    }
    counts[*type] += group.n;
    if (group.n > 0) top = std::max(top, mesh::topology(*type).dim);
    if (*type == CellType::polyhedron)
      unsupported.push_back(fmt::format("{} polyhedra: barrio does not load them yet", group.n));
  }
  result["entities"] = Json::object();
  for (const auto& [type, n] : counts) result["entities"][std::string(mesh::topology(type).plural)] = n;
  if (!unsupported.empty()) result["unsupported"] = unsupported;

  Json sets{{"total", catalog.n_sets},
            {"parts", files::read_h5m_set_tag(file.get(), catalog, detail::partition_tag).size()}};
  const auto names = files::read_h5m_set_names(file.get(), catalog);
  Json named = Json::array();
  for (const detail::SetTag& tag : detail::set_tags) {
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
  if (!options.with_quality || static_cast<std::uint64_t>(catalog.n_vertices) * sizeof(Point) > options.limit_bytes)
    return result;
  const auto width = static_cast<std::size_t>(catalog.n_coordinates);
  const auto x = files::read_reals(file.get(), "/tstt/nodes/coordinates");
  std::vector<Point> points(x.size() / width, Point{});
  for (std::size_t i = 0; i < x.size(); ++i) points[i / width][i % width] = x[i];
  add_box(result, points);
  Quality quality;
  for (const files::H5mGroup& group : catalog.groups) {
    const auto type = detail::cell_type_of(group.type);
    if (type && mesh::topology(*type).dim == top && *type != CellType::polyhedron && *type != CellType::knife)
      add_cells(file.get(), group, catalog.first_vertex, points, quality);
  }
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

Json inspect_gmsh(const std::string& path, const InspectOptions& options) {
  const detail::GmshIndex index = detail::index_gmsh(path, 1);
  static const std::map<int, CellType> types{{1, CellType::edge},   {2, CellType::triangle}, {3, CellType::quad},
                                             {4, CellType::tet},    {5, CellType::hex},      {6, CellType::prism},
                                             {7, CellType::pyramid}};
  Json result;
  result["format"] = index.is_binary ? "Gmsh 4.1, binary" : "Gmsh 4.1, text";
  std::int64_t n_vertices = 0;
  for (const auto& block : index.nodes) n_vertices += block.n;
  result["vertices"] = n_vertices;
  std::map<CellType, std::int64_t> counts;
  std::map<std::pair<int, int>, std::int64_t> groups;
  int top = 0;
  for (const auto& block : index.elements) {
    if (types.count(block.type) == 0) continue;
    counts[types.at(block.type)] += block.n;
    top = std::max(top, block.entity_dim);
    for (const int group : index.groups_of(block.entity_dim, block.entity_tag))
      groups[{block.entity_dim, group}] += block.n;
  }
  result["entities"] = Json::object();
  for (const auto& [type, n] : counts) result["entities"][std::string(mesh::topology(type).plural)] = n;
  std::int64_t n_material = 0;
  Json named = Json::array();
  for (const auto& [key, n] : groups) {
    const bool is_material = key.first == top;
    n_material += is_material ? 1 : 0;
    named.push_back({{"kind", is_material ? "material" : "neumann"},
                     {"id", key.second},
                     {"name", index.group_name(key.first, key.second)}});
  }
  const auto n_groups = static_cast<std::int64_t>(groups.size());
  result["sets"] = {{"total", n_groups}, {"parts", 0}, {"material", n_material}, {"neumann", n_groups - n_material}};
  result["named_sets"] = named;
  result["tags"] = Json::array();
  if (!options.with_quality || static_cast<std::uint64_t>(n_vertices) * sizeof(Point) > options.limit_bytes)
    return result;
  detail::GmshShares all;
  for (const auto& [rank, segment] : index.node_segments) all.nodes.push_back(segment);
  for (const auto& [rank, segment] : index.element_segments) all.elements.push_back(segment);
  std::vector<std::pair<std::int64_t, Point>> tagged;
  detail::read_gmsh_nodes(path, index, all, [&](std::int64_t tag, const Point& x) { tagged.emplace_back(tag, x); });
  std::sort(tagged.begin(), tagged.end());
  std::vector<Point> points;
  for (const auto& [tag, x] : tagged) points.push_back(x);
  add_box(result, points);
  Quality quality;
  std::vector<Point> corners;
  detail::read_gmsh_elements(
      path, index, all, [&](std::size_t block, std::int64_t, std::span<const std::int64_t> nodes) {
        if (index.elements[block].entity_dim != top) return;
        corners.clear();
        for (const std::int64_t tag : nodes) {
          const auto at = std::lower_bound(tagged.begin(), tagged.end(), tag,
                                           [](const auto& entry, std::int64_t t) { return entry.first < t; });
          if (at == tagged.end() || at->first != tag)
            throw Error(
                ErrorCode::bad_input,
                {.subject = path, .cause = fmt::format("an element has node {}, which is not in the file", tag)});
          corners.push_back(at->second);
        }
        quality.add(types.at(index.elements[block].type), corners);
      });
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

}  // namespace

Json inspect(const std::string& path, InspectOptions options) {
  const Format format = detect_format(path);
  if (format == Format::vtkhdf) {
    throw Error(ErrorCode::bad_input, {.subject = path,
                                       .cause = "is a VTKHDF file, which barrio writes but does not read",
                                       .remedy = "open it in ParaView, or give the mesh it was made from"});
  }
  Json result = format == Format::gmsh ? inspect_gmsh(path, options) : inspect_h5m(path, options);
  result["file_bytes"] = static_cast<std::uint64_t>(std::filesystem::file_size(path));
  return result;
}

}  // namespace barrio::io
