#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/exodus/exodus_file.hpp"

namespace barrio::io::detail {
namespace {

Json described_tags(const ExodusCatalog& catalog) {
  Json tags = Json::array();
  const auto add = [&](const std::vector<std::string>& names, const char* on) {
    for (const std::string& name : names) tags.push_back({{"name", name}, {"type", "double"}, {"on", on}});
  };
  std::vector<std::string> attributes;
  for (const ExodusBlock& block : catalog.blocks)
    for (const std::string& name : block.attributes)
      if (std::ranges::find(attributes, name) == attributes.end()) attributes.push_back(name);
  add(attributes, "elements");
  add(catalog.node_variables, "vertices");
  add(catalog.element_variables, "elements");
  add(catalog.global_variables, "mesh");
  return tags;
}

}  // namespace

Json inspect_exodus(const std::string& path, const InspectOptions& options) {
  const files::NetcdfFile file(path);
  const ExodusCatalog catalog = read_exodus_catalog(file, path);
  Json result;
  result["format"] = "Exodus II, " + file.format();
  result["vertices"] = catalog.n_vertices;
  CellCounts counts;
  std::vector<mesh::SetInfo> sets;
  auto top = mesh::Dim::vertex;
  for (const ExodusBlock& block : catalog.blocks) {
    counts[{block.type, block.n_nodes}] += block.n;
    top = std::max(top, mesh::topology(block.type).dim);
    sets.push_back({.kind = mesh::SetKind::material, .id = block.id, .name = block.name});
  }
  add_entities(result, counts);
  std::int64_t n_sides = 0;
  for (const ExodusSet& set : catalog.node_sets)
    sets.push_back({.kind = mesh::SetKind::dirichlet, .id = set.id, .name = set.name});
  for (const ExodusSet& set : catalog.side_sets) {
    sets.push_back({.kind = mesh::SetKind::neumann, .id = set.id, .name = set.name});
    n_sides += set.n;
  }
  if (n_sides > 0) result["sides_in_sets"] = n_sides;
  add_sets(result, sets);
  result["tags"] = described_tags(catalog);
  if (catalog.n_steps > 0) {
    result["time_steps"] = catalog.n_steps;
    add_times(result, file.reals("time_whole"), catalog.n_steps);
  }
  if (!catalog.left_out.empty()) result["unsupported"] = catalog.left_out;
  if (!has_quality(catalog.n_vertices, options)) return result;
  const std::vector<double> x = read_exodus_coordinates(file, catalog, {0, catalog.n_vertices});
  std::vector<Point> points;
  for (std::size_t i = 0; i < x.size(); i += 3) points.push_back({x[i], x[i + 1], x[i + 2]});
  add_box(result, points);
  Quality quality;
  for (const ExodusBlock& block : catalog.blocks) {
    Status fault;
    const auto nodes = read_exodus_nodes(file, path, catalog, block, {0, block.n}, fault);
    if (fault) throw *fault;
    if (mesh::topology(block.type).dim == top) quality.add_all(block.type, nodes, block.n_nodes, points);
  }
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

}  // namespace barrio::io::detail
