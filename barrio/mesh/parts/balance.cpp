#include "barrio/mesh/balance.hpp"

#include <fmt/format.h>

#include "barrio/base/error.hpp"
#include "barrio/mesh/topology.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/partition/rcb.hpp"

namespace barrio::mesh {

std::vector<Rank> balanced_ranks(const Mesh& mesh, std::span<const std::int64_t> weights) {
  const EntityTable& cells = mesh.cells();
  agree_after(mesh.context(), [&] {
    if (weights.empty() || weights.size() == cells.n_owned) return;
    throw Error(ErrorCode::usage,
                {.subject = fmt::format("{} weights", weights.size()),
                 .cause = fmt::format("are not one for each of the {} cells of this rank", cells.n_owned),
                 .remedy = "give a weight for each owned cell, in local order, or none at all"});
  });
  const std::vector<double>& x = mesh.vertices().coordinates;
  std::vector<double> centres(3 * cells.n_owned, 0.0);
  std::vector<LocalId> room;
  for (std::size_t c = 0; c < cells.n_owned; ++c) {
    const auto nodes = cells.nodes_of(c);
    const std::span<const LocalId> corners = distinct_corners(cells.type(c), nodes, room);
    for (const LocalId node : corners)
      for (std::size_t k = 0; k < 3; ++k) centres[3 * c + k] += x[3 * index(node) + k];
    for (std::size_t k = 0; k < 3; ++k) centres[3 * c + k] /= static_cast<double>(corners.size());
  }
  return partition::rcb(mesh.context(), centres, mesh.global_ids(mesh.cell_dim()).first(cells.n_owned), weights,
                        mesh.context().size());
}

}  // namespace barrio::mesh
