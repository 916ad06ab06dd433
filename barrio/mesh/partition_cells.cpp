#include "barrio/mesh/partition_cells.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "barrio/base/error.hpp"
#include "barrio/base/text.hpp"
#include "barrio/exchange/router.hpp"
#include "barrio/mesh/dual_graph.hpp"
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

struct Label {
  GlobalId cell;
  std::int32_t label;
};

/// Labels by table rows -> labels by graph rows, or back: two ways to cut the same cells into slabs.
template <class HomeOf>
std::vector<Label> move_labels(mpi::Context& context, const std::vector<Label>& labels, HomeOf&& home_of) {
  std::vector<Rank> to;
  to.reserve(labels.size());
  for (const Label& label : labels) to.push_back(home_of(label.cell));
  std::vector<Label> moved = exchange::route(context, exchange::pack_by_rank<Label>(to, labels)).items;
  std::sort(moved.begin(), moved.end(), [](const Label& a, const Label& b) { return a.cell < b.cell; });
  return moved;
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
    std::vector<Label> labels;
    for (std::size_t i = 0; i < ids.size(); ++i) labels.push_back({ids[i], cluster[i]});
    labels = move_labels(context, labels, [&](GlobalId cell) { return graph.vertices.rank_of(cell); });
    std::vector<std::int32_t> by_row;
    for (const Label& label : labels) by_row.push_back(label.label);
    part = partition::cut_by_metis(context, graph, by_row, n_clusters, n_parts);
  }
  std::vector<Label> labels;
  const GlobalId first{graph.vertices.first(context.rank())};
  for (std::size_t i = 0; i < part.size(); ++i) labels.push_back({first + static_cast<std::int64_t>(i), part[i]});
  labels =
      move_labels(context, labels, [&](GlobalId cell) { return tables.home(tables.top_dim(), barrio::value(cell)); });
  std::vector<std::int32_t> by_table;
  for (const Label& label : labels) by_table.push_back(label.label);
  return by_table;
}

}  // namespace

std::vector<std::string> partitioner_names() { return {"rcb", "ptscotch", "metis"}; }

void partition_cells(mpi::Context& context, MeshTables& tables, int n_parts, const std::string& method) {
  const std::vector<GlobalId> ids = top_ids(context, tables);
  if (method == "rcb") {
    tables.parts = partition::rcb(context, compute_centres(context, tables), ids, {}, n_parts);
  } else {
    const std::vector<std::string> known = partitioner_names();
    if (std::find(known.begin(), known.end(), method) == known.end()) {
      throw AgreedError(ErrorCode::usage, {.subject = fmt::format("partitioner '{}'", method),
                                           .cause = "is not known." + did_you_mean(method, known),
                                           .remedy = "use rcb, ptscotch or metis"});
    }
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
