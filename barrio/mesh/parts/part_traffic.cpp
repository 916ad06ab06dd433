#include "barrio/mesh/part_traffic.hpp"

#include <algorithm>
#include <map>

#include "barrio/base/error.hpp"
#include "barrio/base/sort_unique.hpp"
#include "barrio/mesh/tables/drawn_owner.hpp"

namespace barrio::mesh {

std::vector<exchange::TrafficRow> part_traffic(const Mesh& mesh, std::int64_t n_exchanges,
                                               std::int64_t bytes_per_point) {
  if (mesh.ghost_layers() < 1) {
    throw AgreedError(
        ErrorCode::usage,
        {.subject = "traffic between parts", .cause = "needs a mesh with a ghost layer", .remedy = "load it with one"});
  }
  const EntityTable& cells = mesh.cells();
  const std::size_t n_vertices = mesh.n_local(Dim::vertex);

  // Parts of the cells around each vertex; complete for owned vertices, thanks to the ghosts.
  std::vector<std::pair<LocalId, std::int32_t>> vertex_part;
  for (std::size_t c = 0; c < cells.size(); ++c)
    for (const LocalId v : cells.nodes_of(c)) vertex_part.emplace_back(v, mesh.cell_parts()[c]);
  sort_unique(vertex_part);

  // The part that would own a vertex if parts were ranks, by the ownership rule of the mesh. The owner of the vertex
  // computes it and sends it to the copies.
  std::vector<std::int32_t> owner(n_vertices, -1);
  std::vector<std::size_t> first(n_vertices + 1, 0);
  for (const auto& [v, part] : vertex_part) first[index(v) + 1] += 1;
  for (std::size_t v = 0; v < n_vertices; ++v) first[v + 1] += first[v];
  for (std::size_t v = 0; v < mesh.n_owned(Dim::vertex); ++v) {
    const std::size_t drawn = detail::drawn_owner(Dim::vertex, mesh.vertices().global_ids[v], first[v + 1] - first[v]);
    owner[v] = vertex_part[first[v] + drawn].second;
  }
  exchange::HaloExchange<std::int32_t> halo(mesh.context(), mesh.halo_plan(Dim::vertex), owner, 1);
  halo.exchange();

  // A part needs the vertices of its cells and of all cells that touch them.
  std::vector<std::pair<std::int32_t, LocalId>> needs;
  const auto first_part = barrio::value(mesh.parts().first);
  const auto last_part = barrio::value(mesh.parts().last);
  std::vector<std::int32_t> touches;
  for (std::size_t c = 0; c < cells.size(); ++c) {
    touches.clear();
    for (const LocalId v : cells.nodes_of(c))
      for (std::size_t k = first[index(v)]; k < first[index(v) + 1]; ++k) touches.push_back(vertex_part[k].second);
    sort_unique(touches);
    for (const std::int32_t part : touches) {
      if (part < first_part || part >= last_part) continue;
      for (const LocalId v : cells.nodes_of(c))
        if (owner[index(v)] != part) needs.emplace_back(part, v);
    }
  }
  sort_unique(needs);
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> points;  // (to, from), a few per part
  for (const auto& [part, v] : needs) points[{part, owner[index(v)]}] += 1;
  std::vector<exchange::TrafficRow> rows;
  for (const auto& [ends, n] : points)
    rows.push_back({ends.second, ends.first, n, n * bytes_per_point * n_exchanges, n_exchanges});
  return rows;
}

}  // namespace barrio::mesh
