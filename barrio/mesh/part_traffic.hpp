#pragma once

/// @file Traffic between parts in a halo exchange, as if each part had a rank of its own.

#include <vector>

#include "barrio/exchange/traffic.hpp"
#include "barrio/mesh/mesh.hpp"

namespace barrio::mesh {

/// Compute the messages that parts would send each other if each had a rank of its own: the halo points of one exchange
/// of a vertex field with one ghost layer. Collective. The rows of all ranks together do not depend on the rank count.
/// @pre mesh.ghost_layers() == 1
/// @param n_exchanges  with bytes_per_point, gives the bytes and messages of a run
/// @return rows of the messages that this rank's parts receive, by (to, from)
/// Cost: one exchange of one number per vertex
std::vector<exchange::TrafficRow> part_traffic(const Mesh& mesh, std::int64_t n_exchanges,
                                               std::int64_t bytes_per_point);

}  // namespace barrio::mesh
