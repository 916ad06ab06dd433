#include <fmt/format.h>
#include <fmt/ranges.h>

#include "barrio/io/common/readers.hpp"
#include "barrio/io/common/tagged_vertices.hpp"
#include "barrio/io/gmsh/gmsh_groupless.hpp"
#include "barrio/io/gmsh/gmsh_parts.hpp"
#include "barrio/io/vtk/vtk_grid.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"

// A 2.2 file lists elements one by one with type, group and part, as VTK lists cells: they take the same path.

namespace barrio::io::detail {
mesh::MeshTables read_old_gmsh(mpi::Context& context, const std::string& path, const GmshIndex& index,
                               const GmshShares& shares) {
  VtkGrid grid;
  grid.has_gmsh_types = true;
  std::vector<TaggedVertex> vertices;
  std::vector<std::int64_t> groups;
  std::vector<std::int64_t> parts;
  std::int64_t max_tag = 0;
  int has_parts = 0;
  std::int64_t n_surplus = 0;
  GmshGroupless groupless;
  agree_after(context, [&] {
    read_gmsh_nodes(path, index, shares, [&](std::int64_t tag, const std::array<double, 3>& x) {
      vertices.push_back({tag, x});
      max_tag = std::max(max_tag, tag);
    });
    n_surplus = read_old_gmsh_elements(path, index, shares, [&](const OldGmshElement& element) {
      grid.add_cell(element.type, element.nodes);
      groups.push_back(element.group);
      parts.push_back(element.part);
      groupless.add(gmsh_dimension(element.type), element.entity, element.group > 0, 1);
      has_parts = std::max(has_parts, element.part >= 0 ? 1 : 0);
    });
  });
  groupless.gather(context);
  std::vector<std::string> told = groupless.described();
  n_surplus = mpi::sum(context, n_surplus);
  if (n_surplus > 0) told.push_back(fmt::format("{} are ignored", surplus_on_lines(n_surplus)));
  if (!told.empty()) context.log().notice(fmt::format("{}: {}", path, fmt::join(told, "; ")));
  mesh::MeshTables of_vertices;
  const VertexRows rows(context, path, std::move(vertices), mpi::max(context, max_tag), of_vertices);
  grid.n_points = of_vertices.vertices.n_rows;
  grid.coordinates = std::move(of_vertices.coordinates);
  std::vector<GlobalId> nodes;
  for (const std::int64_t tag : grid.nodes) nodes.push_back(GlobalId{tag});
  rows.translate(path, nodes);
  std::ranges::transform(nodes, grid.nodes.begin(), [](GlobalId row) { return value(row); });

  grid.on_cells.push_back({.name = "gmsh:physical", .values = std::move(groups)});
  if (mpi::max(context, has_parts) > 0) grid.on_cells.push_back({.name = "part", .values = std::move(parts)});
  return tables_of_vtk(context, std::move(grid), path, index.group_names);
}

}  // namespace barrio::io::detail
