#include "barrio/mesh/partition_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/mesh/parts/cut_choice.hpp"
#include "barrio/mesh/parts/graph_labels.hpp"
#include "barrio/mesh/sides/dual_graph.hpp"
#include "barrio/mesh/sides/vertex_nets.hpp"
#include "barrio/mpi/collectives.hpp"
#include "barrio/partition/hilbert.hpp"
#include "barrio/partition/rcb.hpp"

namespace barrio::mesh {
namespace {

using Weights = std::span<const std::int64_t>;

/// Count the top cells of this rank.
std::size_t n_top_cells(const MeshTables& tables, Rank rank) {
  std::size_t n = 0;
  for (const CellBlock& block : tables.blocks)
    if (topology(block.type).dim == tables.top_dim()) n += block.rows.size(rank);
  return n;
}

// Choose the vertices of METIS's coarse graph: the cells if it can take them all, else clusters of nearby cells.
std::vector<std::int32_t> make_clusters(mpi::Context& context, const MeshTables& tables, Weights weights,
                                        int n_clusters) {
  const std::vector<GlobalId> ids = top_ids(context, tables);
  if (n_clusters < tables.n_global(tables.top_dim()))
    return partition::rcb(context, compute_centres(context, tables), ids, weights, n_clusters);
  std::vector<std::int32_t> cluster;
  cluster.reserve(ids.size());
  for (const GlobalId id : ids) cluster.push_back(static_cast<std::int32_t>(barrio::value(id)));
  return cluster;
}

/// @param weights  given on all ranks or on none
std::vector<std::int64_t> weights_by_row(mpi::Context& context, const MeshTables& tables, const Slabs& rows,
                                         Weights weights) {
  const bool has_weights = mpi::all_reduce(context, !weights.empty(), MPI_LOR);
  return has_weights ? detail::to_graph_rows(context, tables, rows, weights) : std::vector<std::int64_t>();
}

/// @return part of each row of the graph
std::vector<std::int32_t> cut_graph(mpi::Context& context, const MeshTables& tables, int n_parts,
                                    partition::GraphMethod method, Weights weights) {
  partition::Graph graph = dual_graph(context, tables);
  graph.weights = weights_by_row(context, tables, graph.vertices, weights);
  if (method == partition::GraphMethod::ptscotch) return partition::cut_by_ptscotch(context, graph, n_parts);
  const auto n_clusters =
      static_cast<int>(std::clamp<std::int64_t>(tables.n_global(tables.top_dim()), 1, partition::metis_max_vertices));
  const std::vector<std::int32_t> cluster = make_clusters(context, tables, weights, n_clusters);
  const auto by_row = detail::to_graph_rows<std::int32_t>(context, tables, graph.vertices, cluster);
  return partition::cut_by_metis(context, graph, by_row, n_clusters, n_parts);
}

std::vector<std::int32_t> cut_nets(mpi::Context& context, const MeshTables& tables, int n_parts, Weights weights) {
  partition::Hypergraph nets = vertex_nets(context, tables);
  nets.weights = weights_by_row(context, tables, nets.vertices, weights);
  return partition::cut_by_zoltan(context, nets, n_parts);
}

}  // namespace

std::vector<std::string> partitioner_names() { return {"rcb", "hilbert", "ptscotch", "metis", "hypergraph"}; }

void check_partitioner(const std::string& method) {
  detail::check_cut_method(method, partitioner_names(), "is not known");
}

void partition_cells(mpi::Context& context, MeshTables& tables, int n_parts, const std::string& method, Weights given) {
  check_partitioner(method);
  if (n_parts < 1) {
    throw AgreedError(
        ErrorCode::usage,
        {.subject = fmt::format("{} parts", n_parts), .cause = "must be at least 1", .remedy = "ask for 1 or more"});
  }
  const auto agreed = detail::agreed_weights(context, n_top_cells(tables, context.rank()), given);
  const Weights weights = agreed ? Weights(*agreed) : Weights();
  if (method == "rcb" || method == "hilbert") {
    const auto cut = method == "rcb" ? partition::rcb : partition::hilbert;
    tables.parts = cut(context, compute_centres(context, tables), top_ids(context, tables), weights, n_parts);
  } else {
    const partition::GraphMethod by = partition::graph_method(method);
    const std::vector<std::int32_t> parts = by == partition::GraphMethod::hypergraph
                                                ? cut_nets(context, tables, n_parts, weights)
                                                : cut_graph(context, tables, n_parts, by, weights);
    const Slabs rows{tables.n_global(tables.top_dim()), context.size()};
    tables.parts = detail::to_table_rows<std::int32_t>(context, tables, rows, parts);
  }
  tables.n_parts = n_parts;
  drop_part_sets(context, tables.part_sets);
}

}  // namespace barrio::mesh
