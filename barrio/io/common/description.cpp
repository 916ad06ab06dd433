#include "barrio/io/common/description.hpp"

#include <algorithm>
#include <cmath>

#include "barrio/io/common/id_sets.hpp"
#include "barrio/mesh/quality.hpp"

namespace barrio::io::detail {

bool has_quality(std::int64_t n_points, const InspectOptions& options) noexcept {
  const std::uint64_t n = n_points;
  return options.with_quality && n <= options.limit_bytes / sizeof(Point);
}

void Quality::add(mesh::CellType type, std::span<const Point> corners) {
  const mesh::CellShape shape = mesh::cell_shape(type, corners);
  shortest_ = std::min(shortest_, shape.shortest_edge);
  longest_ = std::max(longest_, shape.longest_edge);
  min_ratio_ = std::min(min_ratio_, shape.edge_ratio);
  sum_ratio_ += shape.edge_ratio;
  n_inverted_ += shape.corner_volume <= 0.0 ? 1 : 0;
  n_ += 1;
}

void Quality::add_all(mesh::CellType type, const std::vector<GlobalId>& nodes, int nodes_per_cell,
                      const std::vector<Point>& points) {
  std::vector<Point> corners(mesh::topology(type).n_corners);
  for (std::size_t first = 0; first < nodes.size(); first += nodes_per_cell) {
    for (std::size_t c = 0; c < corners.size(); ++c) corners[c] = points[index(nodes[first + c])];
    add(type, corners);
  }
}

Json Quality::json() const {
  return Json{{"shortest_edge", shortest_},
              {"longest_edge", longest_},
              {"min_edge_ratio", min_ratio_},
              {"mean_edge_ratio", sum_ratio_ / static_cast<double>(std::max<std::int64_t>(n_, 1))},
              {"inverted", n_inverted_}};
}

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

void add_entities(Json& result, const CellCounts& counts) {
  Json entities = Json::object();
  Json nodes = Json::object();
  for (const auto& [kind, n] : counts) {
    const auto& [type, n_nodes] = kind;
    const std::string name(mesh::topology(type).plural);
    entities[name] = entities.value(name, std::int64_t{0}) + n;
    const int n_corners = mesh::topology(type).n_corners;
    if (n_corners > 0 && n_nodes > n_corners) nodes[name][std::to_string(n_nodes)] = n;
  }
  result["entities"] = entities;
  if (!nodes.empty()) result["nodes_per_cell"] = nodes;
}

void add_times(Json& result, const std::vector<double>& times, std::int64_t n_steps) {
  if (n_steps > 0 && std::ssize(times) == n_steps) result["times"] = times;
}

void add_sets(Json& result, const std::vector<mesh::SetInfo>& sets, std::int64_t n_parts) {
  std::map<mesh::SetKind, std::int64_t> n;
  Json named = Json::array();
  for (const mesh::SetInfo& set : sets) {
    n[set.kind] += 1;
    named.push_back({{"kind", mesh::name(set.kind)}, {"id", set.id}, {"name", set.name}});
  }
  result["sets"] = {{"total", sets.size()}, {"parts", n_parts}};
  for (const mesh::SetKind kind : {mesh::SetKind::material, mesh::SetKind::dirichlet, mesh::SetKind::neumann})
    result["sets"][std::string(mesh::name(kind))] = n[kind];
  result["named_sets"] = named;
}

void add_id_sets(Json& result, const std::map<std::pair<int, int>, std::string>& named, int top, std::int64_t n_parts) {
  std::vector<mesh::SetInfo> sets;
  for (const auto& [key, name] : named)
    sets.push_back({.kind = kind_of_id_set(mesh::Dim{key.first}, mesh::Dim{top}), .id = key.second, .name = name});
  add_sets(result, sets, n_parts);
}

}  // namespace barrio::io::detail
