#pragma once

/// @file Graph partitioning by PT-Scotch or METIS, and the quality of a cut.

#include <cstdint>
#include <string>
#include <vector>

#include "barrio/base/slabs.hpp"
#include "barrio/mpi/context.hpp"

namespace barrio::partition {

/// A graph whose vertices are distributed over the ranks in slabs; both directions of each edge are stored.
struct Graph {
  Slabs vertices;                        ///< rows = graph vertices
  std::vector<std::int64_t> offsets{0};  ///< of this rank's vertices, one longer than their number
  std::vector<GlobalId> neighbours;      ///< global ids, without loops or duplicates
  std::vector<std::int64_t> weights;     ///< of this rank's vertices, >= 0; none or only 0 on all ranks: 1 each
};

/// A library that can partition a graph or a hypergraph.
enum class GraphMethod {
  ptscotch,    ///< parallel multilevel; Open MPI builds only, as Debian packages it
  metis,       ///< serial multilevel k-way on a coarse graph of bounded size
  hypergraph,  ///< Zoltan's, parallel, see hypergraph.hpp; Open MPI builds only, as Debian packages it
};

/// List the names of the methods that this build has.
std::vector<std::string> available_graph_methods();
/// Look up a method by name.
/// @throws AgreedError{usage} for an unknown name, or for a method that this build lacks, with the reason
GraphMethod graph_method(const std::string& name);

/// Cut a graph into parts of equal weight with few edges between them, by PT-Scotch. Collective.
/// The result depends on the rank count and the distribution; for the same of both it is reproducible.
/// @throws AgreedError{usage} if this build has no PT-Scotch, if its ids are too narrow for the graph, or for n_parts <
/// 1
std::vector<std::int32_t> cut_by_ptscotch(mpi::Context& context, const Graph& graph, int n_parts);

/// The largest graph given to METIS, which is serial: about 100 MB on rank 0 and a second or two.
inline constexpr int metis_max_vertices = 200'000;

/// Cut a graph by METIS on a coarse graph. Collective.
/// The vertices of the coarse graph are the clusters, with the total weight of their vertices; its edges are weighted
/// by the number of edges between clusters. Rank 0 cuts it.
/// @param[in] cluster  cluster of each of this rank's vertices, 0 <= cluster < n_clusters
/// @param n_clusters  n_parts <= n_clusters <= metis_max_vertices, so the memory of rank 0 is bounded
/// @return part of each of this rank's vertices; independent of the rank count if the clusters are
/// @throws AgreedError{usage} if this build has no METIS or the bounds are violated
std::vector<std::int32_t> cut_by_metis(mpi::Context& context, const Graph& graph,
                                       const std::vector<std::int32_t>& cluster, int n_clusters, int n_parts);

/// Quality of a cut.
struct CutQuality {
  std::int64_t n_cut_edges = 0;  ///< edges between parts
  double imbalance = 1.0;        ///< largest part / mean part, in vertices
  int n_empty_parts = 0;         ///< parts without a vertex on any rank
};

/// Measure the quality of a cut. Collective. Memory O(n_parts) on each rank.
CutQuality cut_quality(mpi::Context& context, const Graph& graph, const std::vector<std::int32_t>& part, int n_parts);

}  // namespace barrio::partition
