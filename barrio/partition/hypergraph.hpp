#pragma once

#include <cstdint>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// Sets of vertices that need something in common; vertices are cut into slabs over the ranks, each net stands on one.
struct Hypergraph {
  Slabs vertices;                        ///< rows = vertices
  std::vector<std::int64_t> weights;     ///< of this rank's vertices; empty means 1 each
  std::int64_t first_net = 0;            ///< number of this rank's first net, among those of all ranks
  std::vector<std::int64_t> offsets{0};  ///< of this rank's nets, one longer than their number
  std::vector<GlobalId> pins;            ///< vertices of the nets, any rank's, without repetition in a net
};

/// Cut a hypergraph into parts of equal weight so that few nets reach into several parts, each counted once for every
/// part but one: the values that parts send each other if each net stands for one. By Zoltan's PHG. Collective.
/// The result depends on the rank count and the distribution; for one rank count it repeats.
/// @throws AgreedError{usage} if this build has no Zoltan, if a rank has 2^31 pins or more, or for n_parts < 1
/// Source: Devine et al. 2006.
std::vector<std::int32_t> cut_by_zoltan(mpi::Context& context, const Hypergraph& hypergraph, int n_parts);

}  // namespace barrio::partition
