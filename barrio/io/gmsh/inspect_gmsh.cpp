#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/io/common/description.hpp"
#include "barrio/io/common/node_orders.hpp"
#include "barrio/io/gmsh/gmsh_groupless.hpp"
#include "barrio/io/gmsh/gmsh_parts.hpp"

namespace barrio::io::detail {

using mesh::CellType;

Json inspect_gmsh(const std::string& path, const InspectOptions& options) {
  const GmshIndex index = index_gmsh(path, 1);
  // Vertices stand for elements that are points; only their groups count.
  const auto kind_of = [](int type) {
    const CellKind* const kind = gmsh_kind(type);
    return kind != nullptr && kind->type != CellType::vertex ? kind : nullptr;
  };
  Json result;
  result["format"] = fmt::format("Gmsh {}, {}",
                                 index.is_first ? "1.0"
                                 : index.is_old ? "2.2"
                                                : "4.1",
                                 index.is_binary ? "binary" : "text");
  std::int64_t n_vertices = 0;
  for (const auto& block : index.nodes) n_vertices += block.n;
  result["vertices"] = n_vertices;
  CellCounts counts;
  std::map<std::pair<int, int>, std::string> groups;
  int top = 0;
  GmshShares all;
  for (const auto& [rank, segment] : index.node_segments) all.nodes.push_back(segment);
  for (const auto& [rank, segment] : index.element_segments) all.elements.push_back(segment);
  std::int64_t n_parts = 0;
  GmshGroupless groupless;
  std::int64_t n_surplus = 0;
  if (index.is_old) {
    n_surplus = read_old_gmsh_elements(path, index, all, [&](const OldGmshElement& element) {
      const int dim = gmsh_dimension(element.type);
      groupless.add(dim, element.entity, element.group > 0, 1);
      if (element.group > 0) groups[{dim, element.group}] = index.group_name(dim, element.group);
      const CellKind* const kind = kind_of(element.type);
      if (kind == nullptr) return;
      counts[{kind->type, kind->n_nodes}] += 1;
      top = std::max(top, dim);
      n_parts = std::max(n_parts, std::int64_t{element.part} + 1);
    });
  }
  for (const auto& block : index.elements) {
    if (block.n == 0) continue;
    for (const int group : index.groups_of(block.entity_dim, block.entity_tag))
      groups[{block.entity_dim, group}] = index.group_name(block.entity_dim, group);
    const CellKind* const kind = kind_of(block.type);
    if (kind == nullptr) continue;
    counts[{kind->type, kind->n_nodes}] += block.n;
    top = std::max(top, block.entity_dim);
  }
  if (!index.is_old) n_parts = index.n_parts_of(top);
  add_entities(result, counts);
  add_id_sets(result, groups, top, n_parts);
  if (!index.is_old) groupless.add_all(index);
  std::vector<std::string> unsupported = index.left_out;
  for (std::string& text : groupless.described()) unsupported.push_back(std::move(text));
  if (n_surplus > 0) unsupported.push_back(surplus_on_lines(n_surplus));
  if (!unsupported.empty()) result["unsupported"] = unsupported;
  result["tags"] = Json::array();
  if (!has_quality(n_vertices, options)) return result;
  std::vector<std::pair<std::int64_t, Point>> tagged;
  read_gmsh_nodes(path, index, all, [&](std::int64_t tag, const Point& x) { tagged.emplace_back(tag, x); });
  std::sort(tagged.begin(), tagged.end());
  std::vector<Point> points;
  for (const auto& [tag, x] : tagged) points.push_back(x);
  add_box(result, points);
  Quality quality;
  std::vector<Point> corners;
  const auto add = [&](int type, std::span<const std::int64_t> nodes) {
    const CellKind* const kind = kind_of(type);
    if (kind == nullptr || value(mesh::topology(kind->type).dim) != top) return;
    corners.clear();
    for (const std::int64_t tag : nodes.first(mesh::topology(kind->type).n_corners)) {
      const auto at = std::lower_bound(tagged.begin(), tagged.end(), tag,
                                       [](const auto& entry, std::int64_t t) { return entry.first < t; });
      if (at == tagged.end() || at->first != tag)
        throw Error(ErrorCode::bad_input,
                    {.subject = path, .cause = fmt::format("an element has node {}, which is not in the file", tag)});
      corners.push_back(at->second);
    }
    quality.add(kind->type, corners);
  };
  if (index.is_old) {
    read_old_gmsh_elements(path, index, all, [&](const OldGmshElement& e) { add(e.type, e.nodes); });
  } else {
    read_gmsh_elements(path, index, all, [&](std::size_t block, std::int64_t, std::span<const std::int64_t> nodes) {
      add(index.elements[block].type, nodes);
    });
  }
  if (quality.n() > 0) result["quality"] = quality.json();
  return result;
}

}  // namespace barrio::io::detail
