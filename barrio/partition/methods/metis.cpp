#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "barrio/base/error.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mpi/agree.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/graph.hpp"
#include "barrio/partition/methods/fit_weights.hpp"
#include "barrio/partition/methods/ghost_labels.hpp"
#include "barrio/partition/methods/quiet_output.hpp"

#ifdef BARRIO_HAVE_METIS
#include <metis.h>
#endif

namespace barrio::partition {
namespace {

struct CoarseEdge {
  std::int32_t from;
  std::int32_t to;
  std::int64_t weight;
};

/// Merge edges with the same ends; their weights add up.
void merge(std::vector<CoarseEdge>& edges) {
  std::sort(edges.begin(), edges.end(),
            [](const CoarseEdge& a, const CoarseEdge& b) { return a.from != b.from ? a.from < b.from : a.to < b.to; });
  std::size_t n = 0;
  for (const CoarseEdge& edge : edges) {
    if (n > 0 && edges[n - 1].from == edge.from && edges[n - 1].to == edge.to) {
      edges[n - 1].weight += edge.weight;
    } else {
      edges[n++] = edge;
    }
  }
  edges.resize(n);
}

#ifdef BARRIO_HAVE_METIS
std::vector<std::int32_t> metis_kway(const std::vector<CoarseEdge>& edges, const std::vector<std::int64_t>& weights,
                                     int n_parts) {
  std::vector<idx_t> offsets(weights.size() + 1, 0);
  std::vector<idx_t> neighbours;
  std::vector<std::int64_t> of_edges;
  for (const CoarseEdge& edge : edges) {
    offsets[edge.from + 1] += 1;
    neighbours.push_back(edge.to);
    of_edges.push_back(edge.weight);
  }
  for (std::size_t v = 0; v < weights.size(); ++v) offsets[v + 1] += offsets[v];
  const auto fitting = [](const std::vector<std::int64_t>& all) {
    return detail::fit_weights<idx_t>(all, std::accumulate(all.begin(), all.end(), std::int64_t{0}));
  };
  std::vector<idx_t> vertex_weights = fitting(weights);
  std::vector<idx_t> edge_weights = fitting(of_edges);
  auto n_vertices = static_cast<idx_t>(weights.size());
  idx_t n_constraints = 1;
  idx_t n = n_parts;
  idx_t cut = 0;
  std::vector<idx_t> part(weights.size(), 0);
  std::array<idx_t, METIS_NOPTIONS> options{};
  METIS_SetDefaultOptions(options.data());
  options[METIS_OPTION_SEED] = 1;
  options[METIS_OPTION_NUMBERING] = 0;
  if (n_parts > 1) {
    const detail::QuietOutput quiet;
    const int status =
        METIS_PartGraphKway(&n_vertices, &n_constraints, offsets.data(), neighbours.data(), vertex_weights.data(),
                            nullptr, edge_weights.data(), &n, nullptr, nullptr, options.data(), &cut, part.data());
    if (status != METIS_OK) {
      throw Error(ErrorCode::failed, {.subject = "METIS", .cause = fmt::format("gave up with code {}", status)});
    }
  }
  return {part.begin(), part.end()};
}
#endif

}  // namespace

std::vector<std::int32_t> cut_by_metis(mpi::Context& context, const Graph& graph,
                                       const std::vector<std::int32_t>& cluster, int n_clusters, int n_parts) {
  graph_method("metis");
  if (n_clusters > metis_max_vertices || n_parts > n_clusters || n_parts < 1) {
    throw AgreedError(ErrorCode::usage,
                      {.subject = fmt::format("METIS, {} parts of {} clusters", n_parts, n_clusters),
                       .cause = fmt::format("METIS is serial and takes at most {} clusters, and at least one per part",
                                            metis_max_vertices),
                       .remedy = "use rcb or ptscotch for more parts"});
  }
  const std::vector<std::int32_t> other = detail::labels_of_neighbours(context, graph, cluster);
  const auto of_vertices = detail::weights_that_count(context, graph.weights);
  std::vector<std::int64_t> weights(n_clusters, 0);
  std::vector<CoarseEdge> edges;
  for (std::size_t v = 0; v < cluster.size(); ++v) {
    weights[cluster[v]] += of_vertices.empty() ? 1 : of_vertices[v];
    for (std::int64_t e = graph.offsets[v]; e < graph.offsets[v + 1]; ++e) {
      const std::int32_t to = other[e];
      if (to != cluster[v]) edges.push_back({cluster[v], to, 1});
    }
  }
  merge(edges);
  // The coarse graph has at most metis_max_vertices vertices, so one rank can hold it.
  const std::vector<Rank> to_root(edges.size(), 0);
  edges = exchange::route(context, exchange::pack_by_rank<CoarseEdge>(to_root, edges)).items;
  mpi::all_reduce(context, std::span<std::int64_t>(weights), MPI_SUM);
  std::vector<std::int32_t> coarse_part(weights.size(), 0);
  agree_after(context, [&] {
    if (!context.is_root()) return;
    merge(edges);
#ifdef BARRIO_HAVE_METIS
    coarse_part = metis_kway(edges, weights, n_parts);
#endif
  });
  mpi::broadcast(context, coarse_part);
  std::vector<std::int32_t> part;
  part.reserve(cluster.size());
  for (const std::int32_t c : cluster) part.push_back(coarse_part[c]);
  return part;
}

}  // namespace barrio::partition
