#pragma once

#include <cstdint>
#include <vector>

#include "barrio/partition/graph.hpp"

namespace barrio::partition::detail {

/// Look up the label of every stored neighbour, local or remote. Collective.
/// @return shape (graph.neighbours.size())
std::vector<std::int32_t> labels_of_neighbours(mpi::Context& context, const Graph& graph,
                                               const std::vector<std::int32_t>& label);

}  // namespace barrio::partition::detail
