#pragma once

/// @file Hypergraph partitioning by Zoltan.

#include <cstdint>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// A hypergraph: nets are sets of vertices that share data. Vertices are distributed over the ranks in slabs; each net
/// is stored on one rank.
struct Hypergraph {
  Slabs vertices;                        ///< rows = vertices
  std::vector<std::int64_t> weights;     ///< of this rank's vertices; none or only 0 on all ranks: 1 each
  std::int64_t first_net = 0;            ///< global number of this rank's first net
  std::vector<std::int64_t> offsets{0};  ///< of this rank's nets, one longer than their number
  std::vector<GlobalId> pins;            ///< vertices of the nets, of any rank, without duplicates in a net
};

/// Cut a hypergraph into parts of equal weight by Zoltan's PHG. Collective.
/// The objective is a small communication volume (connectivity - 1): a net that spans k parts costs k - 1, the number
/// of values sent if each net stands for one value.
/// The result depends on the rank count and the distribution; for the same of both it is reproducible.
/// @throws AgreedError{usage} if this build has no Zoltan, if a rank has 2^31 pins or more, or for n_parts < 1
/// Source: Devine et al. 2006.
std::vector<std::int32_t> cut_by_zoltan(mpi::Context& context, const Hypergraph& hypergraph, int n_parts);

}  // namespace barrio::partition
