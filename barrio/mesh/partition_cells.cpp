#include "barrio/mesh/partition_cells.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/mesh/detail/graph_labels.hpp"
#include "barrio/mesh/dual_graph.hpp"
#include "barrio/partition/hilbert.hpp"
#include "barrio/partition/rcb.hpp"

namespace barrio::mesh {
namespace {

// What METIS cuts: the cells themselves if it can take them all, else clusters of neighbouring cells.
std::vector<std::int32_t> make_clusters(mpi::Context& context, const MeshTables& tables,
                                        const std::vector<GlobalId>& ids, int n_clusters) {
  if (n_clusters < tables.n_global(tables.top_dim()))
    return partition::rcb(context, compute_centres(context, tables), ids, {}, n_clusters);
  std::vector<std::int32_t> cluster;
  cluster.reserve(ids.size());
  for (const GlobalId id : ids) cluster.push_back(static_cast<std::int32_t>(barrio::value(id)));
  return cluster;
}

std::vector<std::int32_t> cut_graph(mpi::Context& context, const MeshTables& tables, int n_parts,
                                    partition::GraphMethod method, const std::vector<GlobalId>& ids) {
  const partition::Graph graph = dual_graph(context, tables);
  std::vector<std::int32_t> part;
  if (method == partition::GraphMethod::ptscotch) {
    part = partition::cut_by_ptscotch(context, graph, n_parts);
  } else {
    const auto n_clusters =
        static_cast<int>(std::clamp<std::int64_t>(tables.n_global(tables.top_dim()), 1, partition::metis_max_vertices));
    const std::vector<std::int32_t> cluster = make_clusters(context, tables, ids, n_clusters);
    const auto by_row = detail::to_graph_rows<std::int32_t>(context, tables, graph.vertices, cluster);
    part = partition::cut_by_metis(context, graph, by_row, n_clusters, n_parts);
  }
  return detail::to_table_rows<std::int32_t>(context, tables, graph.vertices, part);
}

}  // namespace

std::vector<std::string> partitioner_names() { return {"rcb", "hilbert", "ptscotch", "metis"}; }

void check_partitioner(const std::string& method) {
  const std::vector<std::string> known = partitioner_names();
  if (std::find(known.begin(), known.end(), method) != known.end()) return;
  throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partitioner '{}'", method),
                                       .cause = "is not known." + did_you_mean(method, known),
                                       .remedy = fmt::format("use one of {}", fmt::join(known, ", "))});
}

void partition_cells(mpi::Context& context, MeshTables& tables, int n_parts, const std::string& method) {
  check_partitioner(method);
  const std::vector<GlobalId> ids = top_ids(context, tables);
  if (method == "rcb") {
    tables.parts = partition::rcb(context, compute_centres(context, tables), ids, {}, n_parts);
  } else if (method == "hilbert") {
    tables.parts = partition::hilbert(context, compute_centres(context, tables), ids, {}, n_parts);
  } else {
    if (n_parts < 1) {
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("{} parts", n_parts),
                                           .cause = "is not a number of parts",
                                           .remedy = "ask for 1 or more"});
    }
    tables.parts = cut_graph(context, tables, n_parts, partition::graph_method(method), ids);
  }
  tables.n_parts = n_parts;
}

}  // namespace barrio::mesh
