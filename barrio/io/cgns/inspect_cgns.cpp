#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "barrio/base/error.hpp"
#include "barrio/io/cgns/cgns_file.hpp"
#include "barrio/io/cgns/mixed_section.hpp"
#include "barrio/io/common/description.hpp"

namespace barrio::io::detail {

Json inspect_cgns(const std::string& path, const InspectOptions& options) {
  const files::Handle file = files::open_to_read(path);
  const CgnsCatalog catalog = read_cgns_catalog(file.get(), path);
  Json result;
  result["format"] = "CGNS, HDF5";
  result["vertices"] = catalog.n_vertices;
  result["zones"] = catalog.zones.size();
  CellCounts counts;
  std::vector<mesh::SetInfo> sets;
  std::map<mesh::SetKind, std::int32_t> n_sets;
  const auto add_set = [&](mesh::SetKind kind, const std::string& name) {
    sets.push_back({.kind = kind, .id = ++n_sets[kind], .name = name});
  };
  std::set<std::pair<mesh::SetKind, std::string>> families;  // each has one set
  const auto is_cell = [&](const CgnsSection& section) {
    return value(mesh::topology(section.type).dim) == catalog.cell_dim;
  };
  const auto has_cells = [&](const CgnsZone& zone, const CgnsSection& section) {
    return std::ranges::any_of(zone.sections,
                               [&](const CgnsSection& other) { return other.name == section.name && is_cell(other); });
  };
  for (const CgnsZone& zone : catalog.zones) {
    for (const CgnsSection& section : zone.sections) {
      counts[{section.type, section.n_nodes}] += section.n;
      if (section.kind > 0) continue;
      add_set(has_cells(zone, section) ? mesh::SetKind::material : mesh::SetKind::other, section.name);
    }
    for (const CgnsBoundary& boundary : zone.boundaries) {
      const auto kind = zone.has_vertices(boundary) ? mesh::SetKind::dirichlet : mesh::SetKind::neumann;
      if (!boundary.has_family || families.emplace(kind, boundary.name).second) add_set(kind, boundary.name);
    }
  }
  add_entities(result, counts);
  add_sets(result, sets);
  Json tags = Json::array();
  for (const CgnsZone& zone : catalog.zones) {
    for (const CgnsArray& array : zone.arrays) {
      const Json tag{{"name", array.name}, {"type", "double"}, {"on", array.on_cells ? "elements" : "vertices"}};
      if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(tag);
    }
  }
  result["tags"] = tags;
  if (catalog.n_steps > 0) {
    result["time_steps"] = catalog.n_steps;
    add_times(result, catalog.times, catalog.n_steps);
  }
  if (!catalog.interfaces.empty()) result["interfaces"] = catalog.interfaces.size();
  std::vector<std::string> unsupported = catalog.left_out;
  unsupported.insert(unsupported.end(), catalog.open_interfaces.begin(), catalog.open_interfaces.end());
  if (!catalog.interfaces.empty())
    unsupported.push_back(fmt::format("merging the vertices of zones at {} interfaces is left to the reading",
                                      catalog.interfaces.size()));
  if (!unsupported.empty()) result["unsupported"] = unsupported;
  if (!has_quality(catalog.n_vertices, options)) return result;
  std::vector<Point> points;
  for (const CgnsZone& zone : catalog.zones) {
    const auto x = read_cgns_coordinates(file.get(), catalog, zone, {0, zone.n_vertices()});
    for (std::size_t i = 0; i < x.size(); i += 3) points.push_back({x[i], x[i + 1], x[i + 2]});
  }
  add_box(result, points);
  Quality quality;
  for (const CgnsZone& zone : catalog.zones) {
    for (const CgnsMixed& mixed : zone.mixed) {
      Status fault;
      const MixedShare all(file.get(), path, zone, mixed, 0, 1, fault);
      if (fault) throw *fault;
      for (const CgnsSection& section : zone.sections)
        if (section.mixed == &mixed - zone.mixed.data() && is_cell(section))
          quality.add_all(section.type, all.nodes(section.kind), section.n_nodes, points);
    }
    for (const CgnsSection& section : zone.sections) {
      if (section.mixed >= 0) continue;
      Status fault;
      const auto nodes = read_cgns_nodes(file.get(), path, zone, section, {0, section.n}, fault);
      if (fault) throw *fault;
      if (is_cell(section)) quality.add_all(section.type, nodes, section.n_nodes, points);
    }
  }
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

}  // namespace barrio::io::detail
