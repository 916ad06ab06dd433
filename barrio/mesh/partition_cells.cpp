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

// Clusters per part for METIS: enough to balance within a few per cent, few enough for many parts.
constexpr int clusters_per_part = 256;

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
    const std::int64_t n_cells = tables.n_global(tables.top_dim());
    const auto n_clusters = static_cast<int>(std::min<std::int64_t>(
        {n_cells, std::int64_t{n_parts} * clusters_per_part, std::int64_t{partition::metis_max_vertices}}));
    const std::vector<std::int32_t> cluster =
        partition::rcb(context, compute_centres(context, tables), ids, {}, std::max(n_clusters, 1));
    std::vector<Label> labels;
    for (std::size_t i = 0; i < ids.size(); ++i) labels.push_back({ids[i], cluster[i]});
    labels = move_labels(context, labels, [&](GlobalId cell) { return graph.vertices.rank_of(cell); });
    std::vector<std::int32_t> by_row;
    for (const Label& label : labels) by_row.push_back(label.label);
    part = partition::cut_by_metis(context, graph, by_row, std::max(n_clusters, 1), n_parts);
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
